"""Which machines are bought for what is missing: types and numbers, within the pool's limits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.api.written import ServerTypeName
from growth.scheduling.resources import CPU, MEMORY, Resources, total
from reconciler.buying.market import market
from reconciler.scaling.utilisation.cover import (
    SoldType,
    cheapest_alone,
    cheapest_mix,
    largest_mix,
)
from reconciler.scaling.utilisation.deciding import RunReason
from reconciler.scaling.utilisation.nodes import node_classes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.buying.limits import Left
    from reconciler.buying.market import Market
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.scaling.utilisation.cover import Mix
    from reconciler.scaling.utilisation.deciding import Run
    from reconciler.scaling.utilisation.group import Group

Counts = dict[ServerTypeName, int]


class Purchase(NamedTuple):
    """What a run buys."""

    counts: Counts
    problem: str = ""
    """Why it is less than is missing, for people."""


def purchase_for(run: Run, group: Group, pool: NodePool, world: World, now: Instant) -> Purchase:
    """The machines for a run that is to buy some."""
    sold = market(world, now)
    offers = _cheapest_offers(sold, pool)
    if not offers:
        return Purchase({}, "nothing that the pool may buy is sold now")
    types = [_sold_type(name, each, sold, pool) for name, each in sorted(offers.items())]
    mix, problem = _mix(run, group, types)
    bought = within_limits(mix, offers, sold.limits())
    if sum(bought.values()) < sum(mix.values()):
        problem = "the limits of the pool don't allow more machines"
    return Purchase({ServerTypeName(name): count for name, count in bought.items()}, problem)


def _mix(run: Run, group: Group, types: list[SoldType]) -> tuple[Mix, str]:
    room = group.most - group.machines
    match run.reason:
        case RunReason.STARVED:
            wanted = group.demanded.largest_pending
            name = cheapest_alone(types, lambda room: room.covers(wanted))
            problem = "no type of the pool is large enough for the largest pending pod"
            return ({name: 1}, "") if name and room > 0 else ({}, problem)
        case RunReason.BELOW_MINIMUM | RunReason.TOO_OLD:
            name = cheapest_alone(types, lambda _: True)
            return ({name: run.buys}, "") if name else ({}, run.problem)
        case _:
            missing = missing_capacity(run, group)
            mix = cheapest_mix(missing, types, most=room)
            problem = f"the pool may not have more than {group.most} machines"
            return (
                (mix, "")
                if mix is not None
                else (
                    largest_mix(types, missing, most=room),
                    problem,
                )
            )


def missing_capacity(run: Run, group: Group) -> Resources:
    """What the untainted nodes lack so that the requests are at the threshold, rounded up."""
    classes, again = node_classes_of(group.nodes, group.remembered), frozenset(run.untaints)
    used = [each.capacity for each in classes.untainted if each.name not in run.taints]
    used += [each.capacity for each in classes.tainted if each.name in again]
    threshold, have = group.options.thresholds.scale_up, total(used)
    return Resources(
        {
            # Rounded up in integers: a float would be off for large amounts of memory.
            name: max(0, -(-group.demanded.requests[name] * 100 // threshold) - have[name])
            for name in (CPU, MEMORY)
        }
    )


def within_limits(mix: Mix, offers: Mapping[str, Purchasable], limits: Iterable[Left]) -> Mix:
    """As many of these machines as the limits leave, in the order of their types."""
    left = {each.limit.name: (each.limit.amounts, each.limit.most) for each in limits}
    used = Counter[str]()
    bought: Mix = {}
    for name, count in mix.items():
        offer = offers[name].name
        for _ in range(count):
            more = {limit: amounts.get(offer, 0) for limit, (amounts, _) in left.items()}
            if any(used[limit] + amount > left[limit][1] for limit, amount in more.items()):
                break
            used.update(more)
            bought[name] = bought.get(name, 0) + 1
    return bought


def _cheapest_offers(sold: Market, pool: NodePool) -> Mapping[str, Purchasable]:
    """The cheapest offer of each type that the pool may buy."""
    found: dict[str, Purchasable] = {}
    for item in sold.items:
        name = item.offering.server_type.canonical
        if item.pool.name != pool.name or item.most == 0:
            continue
        best = found.get(name)
        if best is None or (item.price, item.name) < (best.price, best.name):
            found[name] = item
    return found


def _sold_type(name: str, offer: Purchasable, sold: Market, pool: NodePool) -> SoldType:
    there = sold.fleet.counts().get((pool.name, offer.offering.server_type), 0)
    most = next((entry.max for entry in pool.spec.server_types if entry.name.canonical == name), 0)
    return SoldType(
        name=name, room=offer.node.allocatable, cost=offer.price, most=max(0, most - there)
    )


def size_of_offer(pool: NodePool, world: World) -> Resources | None:
    """What a node of the pool's cheapest offer will have, if one is known."""
    own = [each for each in world.ledger.planning.shelf.items if each.pool.name == pool.name]
    best = min(own, key=lambda each: (each.price, each.name), default=None)
    return None if best is None else best.node.allocatable


def with_purchase(run: Run, bought: Purchase) -> Run:
    """The run with what is really bought; without anything, no lock is closed."""
    number, lock = sum(bought.counts.values()), run.lock
    if lock is not None:
        lock = msgspec.structs.replace(lock, requested=number) if number else None
    problem = bought.problem or run.problem
    return msgspec.structs.replace(run, buys=number, problem=problem, lock=lock)
