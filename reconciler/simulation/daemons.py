"""The DaemonSet controller: it creates a pod of each DaemonSet for each eligible node.

`growth.scheduling` decides which nodes are eligible. As in Kubernetes, the pod selects its node by
affinity and is bound by the scheduler, so it waits if the node is full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.kube.cache.resource import Key
from growth.scheduling.affinity_terms import Affinity
from growth.scheduling.daemonsets import daemon_pods

if TYPE_CHECKING:
    from growth.scheduling.objects import DaemonSet, Pod
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

MADE_AFTER = 0.2


class Daemons:
    """All DaemonSets."""

    def __init__(self, around: Surroundings) -> None:
        self._server = server = around.server
        self._timeline = around.timeline
        server.kind("nodes").heard_by.append(self._node_changed)
        server.kind("daemon_sets").heard_by.append(self._daemon_set_changed)

    def _node_changed(self, event: StoredChange) -> None:
        # Kubelets write the status all the time, and nothing in it makes a pod due.
        if event.new is not None and (event.old is None or event.old.spec != event.new.spec):
            self._timeline.after(MADE_AFTER, self._follow, event.key)

    def _daemon_set_changed(self, _: StoredChange) -> None:
        for node in self._server.kind("nodes").objects:
            self._timeline.after(MADE_AFTER, self._follow, node)

    def _follow(self, key: Key) -> None:
        node = self._server.kind("nodes").objects.get(key)
        if node is None:
            return
        daemon_sets: dict[Key, DaemonSet] = self._server.kind("daemon_sets").objects
        for pod in daemon_pods(node, daemon_sets.values()):
            name = Key(pod.metadata.namespace, pod.metadata.name)
            if name not in self._server.kind("pods").objects:
                self._server.create("pods", _bound_by_affinity(pod))


def _bound_by_affinity(pod: Pod) -> Pod:
    """The pod as its controller creates it: with a new uid, and the node as an affinity."""
    field = {"key": "metadata.name", "operator": "In", "values": [pod.spec.node_name]}
    wanted = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": wanted}}
    return msgspec.structs.replace(
        pod,
        metadata=msgspec.structs.replace(pod.metadata, uid=""),
        spec=msgspec.structs.replace(
            pod.spec, node_name="", affinity=msgspec.convert(affinity, Affinity)
        ),
        status=msgspec.structs.replace(pod.status, phase="Pending"),
    )
