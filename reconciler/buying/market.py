"""What may be bought now, and how much of it the limits allow.

Demand, replacement and planning on paper all use this answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from growth.keeping.size import PoolSize
from growth.scheduling.resources import CPU, MEMORY, parse_resources
from reconciler.buying.costs import left_of_cost
from reconciler.buying.in_total import in_total
from reconciler.buying.limits import Left, LimitKind, SetLimit, left_of_limit
from reconciler.buying.offers import Purchasable
from reconciler.buying.refusals import one_at_a_time, usable
from reconciler.buying.shared_networks import shared
from reconciler.facts.fleet import Fleet, fleet
from reconciler.facts.requested import all_requests, bought_lately
from reconciler.facts.sizes import sizes_of_pools
from reconciler.solver import Limit, Minimum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.fleet import CountedMachine


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """What may be bought now: offers that aren't refused, and what limits leave of them."""

    items: tuple[Purchasable, ...]
    fleet: Fleet
    bought: Mapping[str, int] = {}
    """Machines that each pool has bought within the last hour."""
    singles: Mapping[str, frozenset[str]] = {}
    """Groups of offers of which only one machine may be bought, to test whether there are more."""
    shared: tuple[Limit, ...] = ()
    """What is left of quotas that several offers share."""
    in_total: tuple[Left, ...] = ()
    """What is left of the limits of all pools together."""
    sizes: Mapping[str, PoolSize]
    """The sizes that the pools' scaling policies want, by pool."""

    def limits(self) -> tuple[Left, ...]:
        """What may still be bought, for each pool and for all together."""
        found: list[Left] = []
        counts = self.fleet.counts()
        for name, pool in sorted(self._pools().items()):
            own = [item for item in self.items if item.pool.name == name]
            found += _maxima(pool, own, counts=counts)
            found += _brakes(pool, own, fleet=self.fleet, bought=self.bought.get(name, 0))
            found += _policy(pool, own, fleet=self.fleet, size=self.sizes[name])
        others = (Left(limit) for limit in (*self._singles(), *self.shared))
        return (*found, *others, *self.in_total)

    def minima(self) -> tuple[Minimum, ...]:
        """The machines that pools keep without load and don't have yet."""
        counts = self.fleet.counts()
        return tuple(
            minimum
            for name, pool in sorted(self._pools().items())
            for minimum in _minima(
                pool,
                [item for item in self.items if item.pool.name == name],
                size=self.sizes[name],
                counts=self._without_apart(name, counts),
            )
        )

    def _without_apart(
        self, pool: str, counts: Mapping[tuple[str, ServerTypeName], int]
    ) -> Mapping[tuple[str, ServerTypeName], int]:
        """The counts without the machines that count for no floor."""
        if not (apart := self.sizes[pool].apart):
            return counts
        named = (self.fleet.machines.get(name) for name in apart)
        lost = Counter((each.pool, each.server_type) for each in named if each is not None)
        return {key: count - lost[key] for key, count in counts.items()}

    def _singles(self) -> Iterator[Limit]:
        names = {item.name for item in self.items}
        for text, offers in self.singles.items():
            # Sorted, because the order reaches the solver, and a set has another one in each
            # process.
            amounts = dict.fromkeys(sorted(offers & names), 1)
            if amounts:
                name = f"probe of {text}: one machine until more are known to exist"
                yield Limit(name=name, amounts=amounts, most=1)

    def _pools(self) -> Mapping[str, NodePool]:
        return {item.pool.name: item.pool for item in self.items}


def _minima(
    pool: NodePool,
    items: Iterable[Purchasable],
    *,
    size: PoolSize,
    counts: Mapping[tuple[str, ServerTypeName], int],
) -> Iterator[Minimum]:
    offers = _offers_by_type(items)
    for floor in size.floors:
        missing = floor.count - sum(counts.get((pool.name, each), 0) for each in floor.types)
        # A minimum that no offer can meet is left out, as it would make every plan impossible.
        able = frozenset(name for each in floor.types for name in offers.get(each, ()))
        if missing > 0 and able:
            name = f"pool {pool.name}: min of {floor}"
            yield Minimum(name=name, offers=able, count=missing)


def _maxima(
    pool: NodePool,
    items: Iterable[Purchasable],
    *,
    counts: Mapping[tuple[str, ServerTypeName], int],
) -> Iterator[Left]:
    offers = _offers_by_type(items)
    for entry in pool.spec.server_types:
        if entry.name in offers:
            of = SetLimit(LimitKind.TYPE_MAXIMUM, f"max of {entry.name}", pool.name)
            ones = dict.fromkeys(offers[entry.name], 1)
            yield left_of_limit(of, ones, most=entry.max - counts.get((pool.name, entry.name), 0))


def _offers_by_type(items: Iterable[Purchasable]) -> Mapping[ServerTypeName, list[str]]:
    found: defaultdict[ServerTypeName, list[str]] = defaultdict(list)
    for item in items:
        found[item.offering.server_type].append(item.name)
    return found


def _brakes(
    pool: NodePool, items: Sequence[Purchasable], *, fleet: Fleet, bought: int
) -> Iterator[Left]:
    spec = pool.spec.limits
    have = list(fleet.of(pool.name))
    ones = dict.fromkeys((item.name for item in items), 1)
    if spec.nodes is not None:
        of = SetLimit(LimitKind.NODES, "limits.nodes", pool.name)
        yield left_of_limit(of, ones, most=spec.nodes - len(have))
    if spec.nodes_per_hour is not None:
        of = SetLimit(LimitKind.NODES_PER_HOUR, "limits.nodesPerHour", pool.name)
        yield left_of_limit(of, ones, most=spec.nodes_per_hour - bought)
    yield from _of_resources(pool, items, have)
    if spec.hourly_cost is not None:
        of = SetLimit(LimitKind.HOURLY_COST, "limits.hourlyCost", pool.name)
        yield from left_of_cost(of, items, have, most=spec.hourly_cost)


def _policy(
    pool: NodePool, items: Sequence[Purchasable], *, fleet: Fleet, size: PoolSize
) -> Iterator[Left]:
    if size.most is not None:
        of = SetLimit(LimitKind.POLICY, "spec.scaling", pool.name)
        ones = dict.fromkeys((item.name for item in items), 1)
        yield left_of_limit(of, ones, most=size.most - sum(1 for _ in fleet.of(pool.name)))


def _of_resources(
    pool: NodePool, items: Sequence[Purchasable], have: Sequence[CountedMachine]
) -> Iterator[Left]:
    spec = pool.spec.limits
    for kind, resource, most in (
        (LimitKind.CPU, CPU, spec.cpu),
        (LimitKind.MEMORY, MEMORY, spec.memory),
    ):
        if most is not None:
            of = SetLimit(kind, f"limits.{resource}", pool.name)
            amounts = {item.name: item.offering.allocatable[resource] for item in items}
            used = sum(each.resources[resource] for each in have)
            yield left_of_limit(
                of, amounts, most=parse_resources({resource: str(most)})[resource] - used
            )


def market(world: World, now: Instant) -> Market:
    """The offers that aren't refused, and what limits leave of them."""
    items, refusals = sold(world), world.ledger.planning.refusals
    machines = fleet(world, all_requests(world).values())
    bought = Counter(each.pool for each in bought_lately(world, now).values())
    return Market(
        items=items,
        fleet=machines,
        bought=bought,
        singles=one_at_a_time(items, refusals, world),
        shared=shared(items, machines, world),
        in_total=tuple(in_total(items, machines, world, bought=bought.total())),
        sizes=sizes_of_pools(world),
    )


def market_in(currency: str, market: Market) -> Market:
    """The part of a market in one currency."""
    items = tuple(each for each in market.items if each.offering.currency == currency)
    is_all = len(items) == len(market.items)
    return market if is_all else msgspec.structs.replace(market, items=items)


def sold(world: World) -> tuple[Purchasable, ...]:
    """The offers of that market alone."""
    planning = world.ledger.planning
    requests = all_requests(world).values()
    return usable(planning.shelf.items, planning.refusals, world, requests)


def nothing_sold(world: World) -> Market:
    """A market without offers."""
    return Market(items=(), fleet=fleet(world, ()), sizes={})
