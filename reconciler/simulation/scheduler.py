"""The scheduler's queue: when each pod is tried, and what happens to pods that fit nowhere.

Where a pod fits is decided by `growth.scheduling`. Pods are tried one at a time, and each try takes
time. A pod that fits nowhere gets a condition and waits until something changes that may help it.
Then it is tried again, after a back-off that doubles or at once if the queue is empty, as in the
real scheduler. Other pods are tried again every five minutes. Conditions are written at 50 per
second, the limit of the real client.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import key_of
from growth.scheduling.fits import feasible_nodes
from growth.scheduling.metadata import ObservedCondition
from growth.scheduling.taints import untolerated
from reconciler.seeing.indexes import Views
from reconciler.seeing.nodes import as_written
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.nominating import nominated_to
from reconciler.simulation.preemption import is_making_room, preemption
from reconciler.simulation.preferences import Prefer, preferred_node
from reconciler.simulation.volumes import SimulatedVolumes, kinds_of_volumes

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.kube.cache.resource import Key
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.simulation.kubelets import Kubelets
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

ATTEMPT_TAKES = 0.002
CONDITION_TAKES = 0.02
PAUSE_AT_MOST = 10.0
FLUSHED_AFTER = 300.0
FLUSHED_EVERY = 30.0
SCHEDULED: Final = ObservedCondition(type="PodScheduled", status="True")


class UnschedulablePod(msgspec.Struct, kw_only=True):
    """A pod that fitted nowhere."""

    tries: int
    since: float


class SimulatedScheduler:
    """The scheduler with its queue and its view of the cluster."""

    def __init__(
        self, around: Surroundings, kubelets: Kubelets, prefer: Prefer = preferred_node
    ) -> None:
        self._prefer = prefer
        self._kubelets = kubelets
        self._preempts = SimulatedFault.PRIORITY in around.faults.kinds
        self._server = server = around.server
        self._timeline = timeline = around.timeline
        self._views = Views(as_written)
        self._active: deque[Key] = deque()
        self._queued: set[Key] = set()
        self._waiting: dict[Key, UnschedulablePod] = {}
        self._tries: dict[Key, int] = {}
        self._is_trying = False
        self._next_condition = 0.0
        # They are read before a pod is tried that uses them.
        kinds = (*kinds_of_volumes(around), "nodes", "pods", "daemon_sets", "namespaces")
        for kind in kinds:
            server.kind(kind).heard_by.append(getattr(self, f"_{kind}_changed", self._follow(kind)))
        self._volumes = SimulatedVolumes(around, self._queue)
        timeline.after(FLUSHED_EVERY, self._flush)

    @property
    def cluster(self) -> Cluster:
        """The cluster as the scheduler sees it."""
        return self._views.cluster()

    def _follow(self, kind: str) -> Callable[[StoredChange], None]:
        return lambda event: self._see(kind, event)

    def _see(self, kind: str, event: StoredChange) -> None:
        self._views.take(kind, (change_of(event),))

    def _pods_changed(self, event: StoredChange) -> None:
        self._see("pods", event)
        old, new = event.old, event.new
        if new is None:
            self._forget(event.key)
        elif _asks_for_a_node(new) and (old is None or not _asks_for_a_node(old)):
            self._queue(event.key)
        if old is not None and old.place and (new is None or new.is_finished):
            self._freed(old)
            self._neighbours_changed()
        elif new is not None and new.place and (old is None or not old.place):
            self._neighbours_changed()

    def _nodes_changed(self, event: StoredChange) -> None:
        self._see("nodes", event)
        node = event.new
        if node is None:
            # An empty node may have been a domain of its own.
            self._neighbours_changed()
            return
        if event.old is not None and _is_the_same(event.old, node):
            return
        for key in tuple(self._waiting):
            pod = self._pod(key)
            if pod is not None and _could_help(node, pod):
                self._queue(key)

    def _freed(self, gone: Pod) -> None:
        """Try pods again that would fit on the node that a pod has left."""
        node = self._views.cluster().nodes.get(gone.place)
        for key in tuple(self._waiting):
            pod = self._pod(key)
            if node is not None and pod is not None and _could_help(node, pod):
                self._queue(key)

    def _neighbours_changed(self) -> None:
        """Try pods again that depend on others, because one has come or left."""
        for key in tuple(self._waiting):
            pod = self._pod(key)
            if pod is not None and pod.looks_at_others:
                self._queue(key)

    def _queue(self, key: Key) -> None:
        waited = self._waiting.pop(key, None)
        if key in self._queued:
            return
        self._queued.add(key)
        tries = waited.tries if waited is not None else 0
        self._tries[key] = tries
        pause = min(PAUSE_AT_MOST, 2.0 ** (tries - 1)) if tries else 0.0
        # From Kubernetes 1.33 on a scheduler with nothing else to do doesn't wait for the end of a
        # back-off.
        if waited is None or not self._active or self._timeline.now - waited.since >= pause:
            self._active.append(key)
            self._go_on()
        else:
            self._timeline.at(waited.since + pause, self._activate, key)

    def _activate(self, key: Key) -> None:
        if key in self._queued and key not in self._active:
            self._active.append(key)
            self._go_on()

    def _go_on(self) -> None:
        if not self._is_trying and self._active:
            self._is_trying = True
            self._timeline.after(ATTEMPT_TAKES, self._try)

    def _try(self) -> None:
        self._is_trying = False
        key = self._active.popleft()
        self._queued.discard(key)
        pod = self._pod(key)
        if pod is not None and _asks_for_a_node(pod) and not pod.is_terminating:
            self._place(key, pod)
        self._go_on()

    def _place(self, key: Key, pod: Pod) -> None:
        cluster = self._views.cluster()
        nodes = feasible_nodes(pod, cluster)
        if nodes:
            chosen = self._prefer(pod, nodes, cluster)
            self._tries.pop(key, None)
            changed = _bound if self._volumes.are_ready(pod, chosen) else nominated_to
            self._server.change("pods", key, lambda found: changed(found, chosen.name))
            return
        self._nominate(key, pod, cluster)
        tries = self._tries.pop(key, 0) + 1
        self._waiting[key] = UnschedulablePod(tries=tries, since=self._timeline.now)
        message = f"0/{len(cluster.nodes)} nodes are available"
        self._next_condition = max(self._next_condition + CONDITION_TAKES, self._timeline.now)
        self._timeline.at(self._next_condition, self._say, key, pod.metadata.uid, message)

    def _nominate(self, key: Key, pod: Pod, cluster: Cluster) -> None:
        """Make room by preemption if that is possible.

        Otherwise, as the real one: a nomination ends with the first try that fails.
        """
        if self._preempts and is_making_room(pod, cluster):
            return
        found = preemption(pod, cluster) if self._preempts else None
        node = "" if found is None else found.node
        self._server.change("pods", key, lambda old: nominated_to(old, node))
        for victim in () if found is None else found.victims:
            self._preempt(key_of(victim))

    def _preempt(self, key: Key) -> None:
        """A victim that is only nominated loses its nomination, as in the real one."""
        victim = self._pod(key)
        if victim is not None and victim.spec.node_name:
            self._kubelets.end(key)
        else:
            self._server.change("pods", key, lambda old: nominated_to(old, ""))

    def _say(self, key: Key, uid: str, message: str) -> None:
        pod = self._pod(key)
        if pod is None or pod.metadata.uid != uid or pod.spec.node_name:
            return
        condition = ObservedCondition("PodScheduled", "False", "Unschedulable", message)
        # The real scheduler doesn't write a condition again that says the same.
        if condition not in pod.status.conditions:
            self._server.change("pods", key, lambda found: _with_condition(found, condition))

    def _flush(self) -> None:
        for key, waiting in tuple(self._waiting.items()):
            if self._timeline.now - waiting.since > FLUSHED_AFTER:
                self._queue(key)
        self._timeline.after(FLUSHED_EVERY, self._flush)

    def _forget(self, key: Key) -> None:
        self._waiting.pop(key, None)
        self._tries.pop(key, None)

    def _pod(self, key: Key) -> Pod | None:
        pod: Pod | None = self._server.kind("pods").objects.get(key)
        return pod


def change_of(event: StoredChange) -> Change[Any]:
    """An event of the server as a change for the views."""
    if event.new is None:
        return Change(ChangeKind.DELETED, event.key, event.old, None)
    kind = ChangeKind.ADDED if event.old is None else ChangeKind.MODIFIED
    return Change(kind, event.key, event.old, event.new)


def _is_the_same(old: Node, new: Node) -> bool:
    """Whether nothing has changed that matters to the scheduler."""
    return (
        old.spec == new.spec
        and old.metadata.labels == new.metadata.labels
        and old.status.allocatable == new.status.allocatable
    )


def _could_help(node: Node, pod: Pod) -> bool:
    """The queue's hint: whether the pod would fit on the node if it were empty."""
    if untolerated(node.spec.taints, pod.spec.tolerations) is not None:
        return False
    return node.allocatable.covers(pod.requests) and pod.wanted_nodes.matches(
        node.name, node.labels
    )


def _asks_for_a_node(pod: Pod) -> bool:
    """Whether a pod belongs in the queue; a scheduling gate keeps it out."""
    return not pod.spec.node_name and not pod.spec.scheduling_gates


def _bound(pod: Pod, node: str) -> Pod:
    spec = msgspec.structs.replace(pod.spec, node_name=node)
    return _with_condition(msgspec.structs.replace(pod, spec=spec), SCHEDULED)


def _with_condition(pod: Pod, condition: ObservedCondition) -> Pod:
    others = (each for each in pod.status.conditions if each.type != condition.type)
    status = msgspec.structs.replace(pod.status, conditions=(*others, condition))
    return msgspec.structs.replace(pod, status=status)
