"""What pools would have bought, given back and paid, beside what others did meanwhile."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool
    from growth.api.observed import ObservedHour

HOUR: Final = 3600
HONESTY: Final = (
    (
        "growth's figures say what would have happened, not what did: pods are planned as if the "
        "nodes that others have added didn't exist, and keep their place as long as they exist"
    ),
    (
        "growth's machines cost their list price from purchase to removal, without started hours; "
        "they serve at once, are never refused by the provider, and aren't consolidated, which "
        "growth would do"
    ),
    (
        "nodes that were there before the observation count on neither side; nodes of others cost "
        "what the pool's provider asks for their type in their location"
    ),
)
"""What a reader must know before comparing the two sides."""


class ObservedSide(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One side of the comparison."""

    came: int
    """Machines that growth would have bought, or nodes of others that joined."""
    went: int
    """Machines that growth would have given back, or nodes of others that left."""
    hours: float
    """Hours of all machines together."""
    cost: Decimal
    unpriced_hours: float = 0.0
    """Hours whose price isn't known, so that they aren't part of the cost."""


class PoolObservation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pool in the period."""

    pool: str
    since: datetime
    """The beginning of the period, or of the observation if that is later."""
    until: datetime
    watched_hours: float
    """Hours in which growth was watching; all figures are about these alone."""
    currency: str
    growth: ObservedSide
    others: ObservedSide
    """Nodes of others in the whole cluster: they belong to no pool."""
    machines: int
    """Machines that growth would have now."""
    unplaced: int
    """Pods for which growth would have no machine now."""


class ObservationReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All pools that were observed."""

    pools: tuple[PoolObservation, ...]
    notes: tuple[str, ...] = HONESTY
    """What the figures mean, and what they leave out."""


def observation_report(
    pools: Iterable[NodePool], *, span: timedelta | None, now: datetime
) -> ObservationReport:
    """The report of a period that ends now; without one, of everything that is known."""
    start = None if span is None else now - span
    found = (_observation(pool, start) for pool in sorted(pools, key=lambda each: each.name))
    return ObservationReport(pools=tuple(each for each in found if each is not None))


def _observation(pool: NodePool, start: datetime | None) -> PoolObservation | None:
    known = pool.status.observed
    if known is None:
        return None
    hours = [each for each in known.hours if start is None or each.at >= _hour_of(start)]
    beginnings = (known.since, hours[0].at if hours else known.until)
    return PoolObservation(
        pool=pool.name,
        since=max(beginnings),
        until=known.until,
        watched_hours=_hours(each.watched for each in hours),
        currency=known.currency,
        growth=ObservedSide(
            came=sum(each.bought for each in hours),
            went=sum(each.given_back for each in hours),
            hours=_hours(each.machine_seconds for each in hours),
            cost=_cost(each.cost for each in hours),
        ),
        others=_others(hours),
        machines=len(known.machines),
        unplaced=known.unplaced,
    )


def _others(hours: list[ObservedHour]) -> ObservedSide:
    return ObservedSide(
        came=sum(each.joined for each in hours),
        went=sum(each.left for each in hours),
        hours=_hours(each.node_seconds for each in hours),
        cost=_cost(each.node_cost for each in hours),
        unpriced_hours=_hours(each.unpriced_seconds for each in hours),
    )


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _hours(seconds: Iterable[int]) -> float:
    return round(sum(seconds) / HOUR, 2)


def _cost(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, Decimal(0))
