"""What the provider couldn't deliver recently; kept in the pool's status, so it survives restarts.

After an Unmet request its offer (or location, or project) isn't bought for the pool's time to live,
and for twice as long with each failure in a row. Requests that are refused in one burst count as
one failure. When the time is over the entry stays, and machines are tried one at a time, until one
that was accepted since then is Ready. A refusal in this phase begins the next, longer wait.

A machine that was accepted but never served counts too, unless another machine of its offer served
meanwhile: it is replaced once, and if the second doesn't serve either, the offer has to wait.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from growth.api.nodepool_status import UnmetOffer
from growth.api.noderequest import RequestPhase
from growth.instant import just_after
from reconciler.buying.offers import asked_for
from reconciler.buying.refusals import key_of_entry, key_of_refusal, refusal_of_entry, span
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.buying.refusals import EntryKey
    from reconciler.core.world import World

AT_ONCE: Final = 1.0
"""Seconds until a machine that never served may be replaced once."""
MOST: Final = 512
"""The most entries that the definition of NodePool allows."""


def unmet_offers(
    pool: NodePool, failed: Iterable[NodeRequest], world: World
) -> tuple[UnmetOffer, ...]:
    """The entries as they should be now; unchanged as long as nothing has happened."""
    found = {key_of_entry(each): each for each in pool.status.unmet_offers}
    for request, at in _failures(failed, world):
        known = found.get(key_of_refusal(request))
        if known is None or not known.holds(at):
            found[key_of_refusal(request)] = _after(known, request, pool, at=at)
    if not found:
        return ()
    served = tuple(_served(pool, world))
    return _bounded(
        {key: one for key, one in found.items() if not _is_proven(one, pool, world, served)}
    )


def next_refusal_end(pool: NodePool, now: Instant) -> Iterator[float]:
    """When refusals of the pool run out, in monotonic seconds."""
    for each in pool.status.unmet_offers:
        left = -now.seconds_since(each.until)
        if left >= 0:
            yield just_after(now.monotonic + left)


def _failures(failed: Iterable[NodeRequest], world: World) -> list[tuple[NodeRequest, datetime]]:
    """Failures in their order. One bad machine isn't a failure if others of its offer serve."""
    found = [
        (request, at)
        for request in failed
        if (at := request.status.last_transition_time) is not None
        and not (_never_served(request) and _has_worked(request, world.requests.values()))
    ]
    return sorted(found, key=lambda pair: (pair[1], pair[0].name))


def _never_served(request: NodeRequest) -> bool:
    """Whether its machine didn't serve in time."""
    return request.status.phase is RequestPhase.DEPROVISIONING


def _has_worked(failed: NodeRequest, requests: Iterable[NodeRequest]) -> bool:
    """Whether another machine of the offer came to serve while this one should have."""
    since = failed.status.accepted_at
    return any(
        since is not None
        and other.status.ready_at is not None
        and other.status.ready_at >= since
        and other.spec.pool == failed.spec.pool
        and asked_for(other.spec) == asked_for(failed.spec)
        for other in requests
    )


def _after(
    known: UnmetOffer | None, request: NodeRequest, pool: NodePool, *, at: datetime
) -> UnmetOffer:
    failures = 1 if known is None else known.failures + 1
    if not _never_served(request):
        rests = span(pool, failures)
    else:
        rests = AT_ONCE if failures == 1 else span(pool, failures - 1)
    server_type, location = key_of_refusal(request)
    return UnmetOffer(
        server_type=server_type,
        location=location,
        until=at + timedelta(seconds=rests),
        failures=failures,
    )


def _served(pool: NodePool, world: World) -> Iterator[tuple[NodeRequest, datetime]]:
    """Machines of the pool's node class that serve, and when each was accepted."""
    node_class = node_class_of(pool, world)
    alike = {name for name, each in world.pools.items() if node_class_of(each, world) == node_class}
    for request in world.requests.values():
        accepted = request.status.accepted_at
        is_ready = request.status.phase is RequestPhase.READY
        if is_ready and accepted is not None and request.spec.pool in alike:
            yield request, accepted


def _is_proven(
    entry: UnmetOffer,
    pool: NodePool,
    world: World,
    served: Iterable[tuple[NodeRequest, datetime]],
) -> bool:
    """Whether the provider has delivered since the entry's time was over."""
    key = node_class_of(pool, world)
    refusal = refusal_of_entry(entry, key)
    return any(
        # A machine that was accepted earlier says nothing: it may have been bought before the offer
        # ran out.
        accepted >= entry.until
        and refusal.covers(key, request.spec.location, request.spec.server_type)
        for request, accepted in served
    )


def _bounded(found: Mapping[EntryKey, UnmetOffer]) -> tuple[UnmetOffer, ...]:
    """Sorted; if there are too many, those that last longest."""
    # Those that end soonest cost least if they are forgotten: one more refusal, a little earlier.
    longest = sorted(found.values(), key=lambda each: each.until)[-MOST:]
    return tuple(sorted(longest, key=key_of_entry))
