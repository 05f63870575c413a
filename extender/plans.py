"""The node that each pod was planned for, as the NodeRequests tell it.

They outlive a restart of everything; what the reconciler keeps in memory doesn't, and isn't asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.noderequest import FAILED, NodeRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.kube.cache.contents import Change


class Plans:
    """Follows the cache of NodeRequests."""

    def __init__(self) -> None:
        self._requests: dict[str, dict[str, NodeRequest]] = {}
        """By the uid of a pod, those that were made for it, by name."""

    def follow(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Take in what has changed."""
        for change in changes:
            if change.old is not None:
                self._forget(change.old)
            if change.new is not None and change.new.status.phase not in FAILED:
                self._remember(change.new)

    def node_of(self, pod_uid: str) -> str:
        """The node that the newest plan has for the pod; empty if none has one."""
        made = self._requests.get(pod_uid)
        if not made:
            return ""
        newest = max(made.values(), key=_age)
        return newest.node

    def _remember(self, request: NodeRequest) -> None:
        for pod in request.spec.pods:
            self._requests.setdefault(pod.uid, {})[request.name] = request

    def _forget(self, request: NodeRequest) -> None:
        for pod in request.spec.pods:
            made = self._requests.get(pod.uid, {})
            made.pop(request.name, None)
            if not made:
                self._requests.pop(pod.uid, None)


def _age(request: NodeRequest) -> tuple[bool, object, str]:
    """A key that is larger for what was made later; the name decides within one second."""
    made_at = request.metadata.creation_timestamp
    return made_at is not None, made_at, request.name
