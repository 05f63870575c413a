"""A second request for the same pods: what a leader wrote that had lost its Lease already.

Its write may arrive late, when the next leader has bought for the pods. The older request counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.planning.nominations import COMING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.noderequest import NodeRequest


def duplicates(requests: Iterable[NodeRequest]) -> frozenset[str]:
    """The requests of which each pod has an older one, whose machine is on its way."""
    coming = sorted((each for each in requests if _counts(each)), key=_age)
    served: set[str] = set()
    found = set()
    for request in coming:
        pods = {pod.uid for pod in request.spec.pods}
        if pods and pods <= served:
            found.add(request.name)
        else:
            served |= pods
    return frozenset(found)


def _counts(request: NodeRequest) -> bool:
    return request.status.phase in COMING and request.metadata.deletion_timestamp is None


def _age(request: NodeRequest) -> tuple[bool, float, str]:
    """A machine that was accepted is paid for already, so it counts whatever its age."""
    created = request.metadata.creation_timestamp
    is_pending = request.status.accepted_at is None
    return is_pending, 0.0 if created is None else created.timestamp(), request.name
