"""The figures of an observation, hour by hour: what growth would have, and what others have.

Time counts only while growth can see, for both sides alike. A machine costs its price for as long
as it would have existed. Nodes of others cost what the pool's provider asks for their type in their
location; where its catalogue lacks it, their time counts as unpriced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.observed import MOST_HOURS
from reconciler.buying.offers import REGION_LABEL, ZONE_LABEL
from reconciler.facts.currencies import currency_of_pool
from reconciler.facts.node_classes import node_class_of
from reconciler.observing.ledger import TalliedHour, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.observing.ledger import ObservingLedger, ShadowMachine
    from reconciler.providers.port import Offering

HOUR = 3600.0
LONGEST = 300.0
"""Seconds between two looks; after a longer gap, nobody was watching."""
INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def time_counted(
    ledger: ObservingLedger, others: Mapping[str, Node], world: World, now: Instant
) -> Mapping[str, Tally]:
    """The tallies with the time since the last look."""
    last = ledger.looked_at
    seconds = 0.0 if last is None else now.monotonic - last
    if seconds > LONGEST:
        seconds = 0.0
    names = frozenset(others)
    before = names if ledger.others is None else ledger.others
    return {
        pool: _with(
            tally,
            now,
            watched=seconds,
            **_of_machines(world.pools[pool], ledger.machines.values(), world, seconds),
            **_of_others(others.values(), world.pools[pool], world, seconds),
            joined=len(names - before),
            left=len(before - names),
        )
        for pool, tally in ledger.tallies.items()
    }


def with_deeds(
    tallies: Mapping[str, Tally],
    now: Instant,
    *,
    bought: Iterable[ShadowMachine],
    given_back: Iterable[ShadowMachine],
) -> Mapping[str, Tally]:
    """The tallies with machines that would be bought and given back now."""
    came = [each.request.spec.pool for each in bought]
    went = [each.request.spec.pool for each in given_back]
    return {
        pool: _with(tally, now, bought=came.count(pool), given_back=went.count(pool))
        if pool in came or pool in went
        else tally
        for pool, tally in tallies.items()
    }


def price_of(node: Node, pool: NodePool, world: World) -> float | None:
    """The price per hour of a node of others, by the catalogue of a pool's provider."""
    named = node.labels.get(INSTANCE_TYPE, "").lower()
    places = {node.labels.get(REGION_LABEL), node.labels.get(ZONE_LABEL)} - {None}
    alike = [
        each
        for each in world.offerings.get(node_class_of(pool, world), ())
        if each.server_type.canonical == named and _places_of(each) & places
    ]
    best = max(alike, key=lambda each: _likeness(each, node), default=None)
    return None if best is None else float(best.price)


def _places_of(offering: Offering) -> set[str | None]:
    labels = offering.labels
    return {offering.location, labels.get(REGION_LABEL), labels.get(ZONE_LABEL)} - {None}


def _likeness(offering: Offering, node: Node) -> int:
    """How many of the labels that set an offer apart are on the node, less those that aren't."""
    own = offering.own_labels.items()
    return sum(1 if node.labels.get(key) == value else -1 for key, value in own)


def _of_machines(
    pool: NodePool, machines: Iterable[ShadowMachine], world: World, seconds: float
) -> dict[str, float]:
    own = [each.request.spec for each in machines if each.request.spec.pool == pool.name]
    currency = currency_of_pool(pool, world)
    # Amounts in another currency can't be added.
    hourly = sum(float(spec.price) for spec in own if spec.currency in {"", currency})
    return {"machine_seconds": len(own) * seconds, "cost": hourly * seconds / HOUR}


def _of_others(
    others: Iterable[Node], pool: NodePool, world: World, seconds: float
) -> dict[str, float]:
    prices = [price_of(node, pool, world) for node in others]
    known = [price for price in prices if price is not None]
    return {
        "node_seconds": len(prices) * seconds,
        "node_cost": sum(known) * seconds / HOUR,
        "unpriced_seconds": (len(prices) - len(known)) * seconds,
    }


def _with(tally: Tally, now: Instant, **more: float) -> Tally:
    """The tally with amounts added to the current hour."""
    at = now.wall.replace(minute=0, second=0, microsecond=0)
    last = tally.hours[-1] if tally.hours else None
    is_new = last is None or last.at < at
    hour = TalliedHour(at=at) if last is None or is_new else last
    sums = {name: getattr(hour, name) + amount for name, amount in more.items()}
    earlier = tally.hours if is_new else tally.hours[:-1]
    hours = (*earlier, msgspec.structs.replace(hour, **sums))
    return msgspec.structs.replace(tally, hours=hours[-MOST_HOURS:])
