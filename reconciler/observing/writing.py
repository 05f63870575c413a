"""An observation as the status of a pool says it, and as it goes on after a restart."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from growth.api.meta import ObjectMeta
from growth.api.noderequest import NodeRequest, NodeRequestSpec
from growth.api.observed import MOST_MACHINES, ObservedHour, ObservedMachine, ObservedStatus
from reconciler.facts.currencies import currency_of_pool
from reconciler.observing.ledger import ShadowMachine, TalliedHour, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.observing.ledger import ObservingLedger

STALE: Final = timedelta(hours=1)
"""After a longer gap, the pods of the machines in a status have changed too much: they are bought
anew."""
_CENTS: Final = Decimal("0.000001")


def status_of_observation(
    pool: NodePool, ledger: ObservingLedger, world: World, now: Instant, *, unplaced: int
) -> ObservedStatus:
    """What the status of a pool says."""
    tally = ledger.tallies[pool.name]
    own = [each for each in ledger.machines.values() if each.request.spec.pool == pool.name]
    newest = sorted(own, key=lambda each: (each.bought_at, each.request.name))[-MOST_MACHINES:]
    return ObservedStatus(
        since=tally.since,
        until=now.wall.replace(microsecond=0),
        currency=currency_of_pool(pool, world),
        unplaced=unplaced,
        machines=tuple(map(_machine, newest)),
        hours=tuple(map(_hour, tally.hours)),
    )


def tally_in_status(pool: NodePool, now: Instant) -> Tally:
    """The tally that a pool's status holds; a new one if it holds none."""
    known = pool.status.observed
    if known is None:
        return Tally(since=now.wall.replace(microsecond=0))
    return Tally(since=known.since, hours=tuple(map(_tallied, known.hours)))


def machines_in_status(pool: NodePool, now: Instant) -> Iterable[ShadowMachine]:
    """The machines that growth would still have, by a pool's status."""
    known = pool.status.observed
    if known is None or now.wall - known.until > STALE:
        return ()
    return (_shadow(pool.name, each) for each in known.machines)


def _machine(each: ShadowMachine) -> ObservedMachine:
    spec = each.request.spec
    return ObservedMachine(
        name=each.request.name,
        offering=spec.target_offering,
        server_type=spec.server_type,
        location=spec.location,
        labels=dict(spec.labels),
        price=spec.price,
        currency=spec.currency,
        resources=dict(spec.resources),
        bought_at=each.bought_at,
        marked_at=each.marked_at,
    )


def _shadow(pool: str, each: ObservedMachine) -> ShadowMachine:
    spec = NodeRequestSpec(
        pool=pool,
        target_offering=each.offering,
        server_type=each.server_type,
        location=each.location,
        labels=dict(each.labels),
        price=each.price,
        currency=each.currency,
        resources=dict(each.resources),
    )
    request = NodeRequest(metadata=ObjectMeta(name=each.name), spec=spec)
    return ShadowMachine(request=request, bought_at=each.bought_at, marked_at=each.marked_at)


def _hour(each: TalliedHour) -> ObservedHour:
    return ObservedHour(
        at=each.at,
        watched=round(each.watched),
        bought=each.bought,
        given_back=each.given_back,
        machine_seconds=round(each.machine_seconds),
        cost=_amount(each.cost),
        joined=each.joined,
        left=each.left,
        node_seconds=round(each.node_seconds),
        node_cost=_amount(each.node_cost),
        unpriced_seconds=round(each.unpriced_seconds),
    )


def _tallied(each: ObservedHour) -> TalliedHour:
    return TalliedHour(
        at=each.at,
        watched=each.watched,
        bought=each.bought,
        given_back=each.given_back,
        machine_seconds=each.machine_seconds,
        cost=float(each.cost),
        joined=each.joined,
        left=each.left,
        node_seconds=each.node_seconds,
        node_cost=float(each.node_cost),
        unpriced_seconds=each.unpriced_seconds,
    )


def _amount(cost: float) -> Decimal:
    return Decimal(cost).quantize(_CENTS)
