"""The node that each pod was planned for, from the NodeRequests.

NodeRequests survive a restart of all processes, unlike what the reconciler keeps in memory.
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
        """The requests for each pod, by the pod's uid and the request's name."""

    def follow(self, changes: Sequence[Change[NodeRequest]]) -> None:
        """Handle new, changed and deleted NodeRequests."""
        for change in changes:
            if change.old is not None:
                self._forget(change.old)
            if change.new is not None and change.new.status.phase not in FAILED:
                self._remember(change.new)

    def node_of(self, pod_uid: str) -> str:
        """The node that the newest plan has for the pod; "" if there is none."""
        made = self._requests.get(pod_uid)
        if not made:
            return ""
        # An older one may have been in vain: other pods have taken its place, and the pod was
        # planned again.
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
    """A key that sorts requests by creation, and by name within one second."""
    made_at = request.metadata.creation_timestamp
    return made_at is not None, made_at, request.name
