"""The kubelets: what is bound runs, some of it ends by itself, and what is deleted has a moment.

How long a pod works until it is done stands on it as an annotation, the one that kwok's stages
read: so the same pod lives as long here as on a real control plane.
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
"""Seconds between the wish to end a running pod and its end, if its grace isn't shorter."""
GRACE: Final = 30
"""Seconds of a pod that says nothing of it."""
ASKS_AGAIN = 5.0
"""Seconds until a kubelet that is cut off is looked at once more."""
COMPLETES_AFTER_ANNOTATION: Final = "growth.dev/kwok-completes-after"


class Kubelets:
    """Those of all nodes."""

    def __init__(self, around: Surroundings) -> None:
        self.wished: set[str] = set()
        """Uids of pods whose end somebody may ask for, and has."""
        self._server = server = around.server
        self._timeline = around.timeline
        server.kind("pods").heard_by.append(self._pod_changed)

    def end(self, key: Key) -> None:
        """A deletion as people ask for it: what runs has a moment to end."""
        pod: Pod = self._server.kind("pods").objects[key]
        self.wished.add(pod.metadata.uid)
        if not pod.spec.node_name:
            self._server.delete("pods", key)
        elif not pod.is_terminating:
            said = pod.spec.termination_grace_period_seconds
            grace = GRACE if said is None else said
            stamp = (self._server.wall + timedelta(seconds=grace)).isoformat()
            self._server.change("pods", key, lambda found: with_deletion(found, stamp))
            self._timeline.after(min(ENDS_AFTER, grace), self._confirm, key, pod.metadata.uid)

    def _confirm(self, key: Key, uid: str) -> None:
        """Only a kubelet that reaches the server can say that a pod has ended."""
        pod: Pod | None = self._server.kind("pods").objects.get(key)
        node = None if pod is None else self._server.kind("nodes").named(pod.spec.node_name)
        if node is not None and not node.is_ready:
            self._timeline.after(ASKS_AGAIN, self._confirm, key, uid)
        else:
            self._gone(key, uid)

    def gone_after(self, seconds: float, key: Key, pod: Pod) -> None:
        """The pod, and no other of its name, is no more after so many seconds."""
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
    """The pod in a phase; what runs serves."""
    others = tuple(each for each in pod.status.conditions if each.type != "Ready")
    ready = ObservedCondition(type="Ready", status="True" if phase == "Running" else "False")
    status = msgspec.structs.replace(pod.status, phase=phase, conditions=(*others, ready))
    return msgspec.structs.replace(pod, status=status)


def with_deletion(pod: Pod, stamp: str) -> Pod:
    """The pod, its end asked for."""
    metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=stamp)
    return msgspec.structs.replace(pod, metadata=metadata)
