"""A second request for the same pods, written by a leader that had already lost its Lease.

Such a write may arrive late, after the next leader has bought for the pods. The older request
counts, but it replaces the later one only if it also has as many seats for announced pods.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from growth.api.noderequest import COMING
from reconciler.facts.seats import seats_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.owners import Owner


def duplicates(requests: Iterable[NodeRequest]) -> frozenset[str]:
    """Requests all of whose pods and seats are served by older requests with machines coming."""
    coming = sorted((each for each in requests if _counts(each)), key=_age)
    served: dict[str, NodeRequest] = {}
    found = set()
    for request in coming:
        pods = {pod.uid for pod in request.spec.pods}
        if pods and pods <= served.keys() and _has_as_many_seats(request, pods, served):
            found.add(request.name)
        else:
            served |= dict.fromkeys(pods - served.keys(), request)
    return frozenset(found)


def _has_as_many_seats(
    request: NodeRequest, pods: Iterable[str], served: Mapping[str, NodeRequest]
) -> bool:
    """Whether the requests that serve its pods also have all its seats."""
    older = {served[uid].name: served[uid] for uid in pods}
    seats: Counter[Owner] = Counter()
    for each in older.values():
        seats.update(seats_of(each))
    return Counter(seats_of(request)) <= seats


def _counts(request: NodeRequest) -> bool:
    return request.status.phase in COMING and request.metadata.deletion_timestamp is None


def _age(request: NodeRequest) -> tuple[bool, float, str]:
    """Accepted requests come first, whatever their age: their machines are already paid for."""
    created = request.metadata.creation_timestamp
    is_pending = request.status.accepted_at is None
    return is_pending, 0.0 if created is None else created.timestamp(), request.name
