"""The kubelets: they run bound pods, complete some of them, and end deleted ones.

An annotation says how long a pod runs until it completes. kwok's stages read the same annotation,
so a pod lives as long here as on a real control plane.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.written import Duration
from growth.kube.errors import NotFound
from growth.scheduling.metadata import ObservedCondition

if TYPE_CHECKING:
    from growth.kube.cache.resource import Key
    from growth.scheduling.pod import Pod
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

RUNNING_AFTER = 1.0
ENDS_AFTER = 2.0
"""Seconds until a deleted running pod has ended, if its grace period isn't shorter."""
GRACE: Final = 30
"""The default grace period in seconds."""
ASKS_AGAIN = 5.0
"""Seconds until a kubelet that is cut off is checked again."""
COMPLETES_AFTER_ANNOTATION: Final = "growth.dev/kwok-completes-after"


class Kubelets:
    """The kubelets of all nodes."""

    def __init__(self, around: Surroundings) -> None:
        self.wished: set[str] = set()
        """The uids of pods whose deletion was requested in a legitimate way."""
        self._server = server = around.server
        self._timeline = around.timeline
        server.kind("pods").heard_by.append(self._pod_changed)

    def end(self, key: Key, *, within: int | None = None) -> None:
        """Delete a pod; a running one ends within its grace period, or within so many seconds."""
        pod: Pod = self._server.kind("pods").objects[key]
        self.wished.add(pod.metadata.uid)
        # As in Kubernetes: the end of a pod that runs nowhere needs no kubelet to confirm it.
        if not pod.spec.node_name:
            self._server.delete("pods", key)
        elif not pod.is_terminating or within is not None:
            said = pod.spec.termination_grace_period_seconds
            grace = GRACE if said is None else said
            grace = grace if within is None else min(within, grace)
            stamp = (self._server.wall + timedelta(seconds=grace)).isoformat()
            self._server.change("pods", key, lambda found: with_deletion(found, stamp))
            self._timeline.after(min(ENDS_AFTER, grace), self._confirm, key, pod.metadata.uid)

    def _confirm(self, key: Key, uid: str) -> None:
        """End a pod, once its kubelet can reach the server to confirm it."""
        pod: Pod | None = self._server.kind("pods").objects.get(key)
        node = None if pod is None else self._server.kind("nodes").named(pod.spec.node_name)
        if node is not None and not node.is_ready:
            self._timeline.after(ASKS_AGAIN, self._confirm, key, uid)
        else:
            self._gone(key, uid)

    def gone_after(self, seconds: float, key: Key, pod: Pod) -> None:
        """Delete this pod, and no other with its name, after some seconds."""
        self._timeline.after(seconds, self._gone, key, pod.metadata.uid)

    def _pod_changed(self, event: StoredChange) -> None:
        old, new = event.old, event.new
        if new is None:
            self.wished.discard(old.metadata.uid)
        if old is None or new is None or old.spec.node_name or not new.spec.node_name:
            return
        self._timeline.after(RUNNING_AFTER, self._run, event.key, new.metadata.uid)

    def _run(self, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        self._server.change("pods", key, lambda found: with_phase(found, "Running"))
        lasts = pod.metadata.annotations.get(COMPLETES_AFTER_ANNOTATION)
        if lasts is not None:
            self._timeline.after(Duration.parse(lasts).seconds, self._finish, key, uid)

    def _finish(self, key: Key, uid: str) -> None:
        if self._alive(key, uid) is not None:
            self._server.change("pods", key, lambda found: with_phase(found, "Succeeded"))

    def _alive(self, key: Key, uid: str) -> Pod | None:
        pod: Pod | None = self._server.kind("pods").objects.get(key)
        return None if pod is None or pod.metadata.uid != uid or pod.is_terminating else pod

    def _gone(self, key: Key, uid: str) -> None:
        pod = self._server.kind("pods").objects.get(key)
        if pod is not None and pod.metadata.uid == uid:
            try:
                self._server.delete("pods", key)
            except NotFound:
                return


def with_phase(pod: Pod, phase: str) -> Pod:
    """The pod in a phase; a running pod is ready."""
    others = tuple(each for each in pod.status.conditions if each.type != "Ready")
    ready = ObservedCondition(type="Ready", status="True" if phase == "Running" else "False")
    status = msgspec.structs.replace(pod.status, phase=phase, conditions=(*others, ready))
    return msgspec.structs.replace(pod, status=status)


def with_deletion(pod: Pod, stamp: str) -> Pod:
    """The pod in deletion."""
    metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=stamp)
    return msgspec.structs.replace(pod, metadata=metadata)
