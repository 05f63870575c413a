"""The machines that each pool has or will have, and what its limits leave.

A machine counts from the moment it is decided on until it is gone. Its node joins long after its
request, which is mostly deleted long before the node: both tell of one machine, by its name. Where
the node went first, the request still counts as long as the cloud may have the machine. And where
neither is left, because somebody has deleted a Node, the cloud's listing tells that a machine of
the pool is paid for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.api.noderequest import NodeRequest, RequestPhase
from growth.api.wellknown import INSTANCE_TYPE_LABEL, POOL_LABEL, PRICE_ANNOTATION
from growth.api.written import ServerTypeName
from growth.scheduling.resources import CPU, MEMORY, Resources, parse_resources
from reconciler.buying.limits import Left, LimitKind, SetLimit, left_of_limit
from reconciler.buying.offers import Purchasable
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.port import MachineState
from reconciler.solver import Limit, Minimum

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.providers.port import Machine


class CountedMachine(NamedTuple):
    """One machine as limits see it."""

    pool: str
    server_type: ServerTypeName
    price: int
    resources: Resources


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """All machines of all pools, by name."""

    machines: Mapping[str, CountedMachine]

    def of(self, pool: str) -> Iterator[CountedMachine]:
        """The machines of one pool."""
        return (each for each in self.machines.values() if each.pool == pool)

    def counts(self) -> Mapping[tuple[str, ServerTypeName], int]:
        """How many there are of each type in each pool."""
        found: defaultdict[tuple[str, ServerTypeName], int] = defaultdict(int)
        for each in self.machines.values():
            found[each.pool, each.server_type] += 1
        return found


def fleet(world: World, requests: Iterable[NodeRequest]) -> Fleet:
    """Nodes, and requests whose machine exists or may come."""
    machines = dict(nodes_of_pools(world))
    asked_for = {each.name: each for each in requests}
    machines |= {
        n: standing_of(each) for n, each in asked_for.items() if may_have_machine(each, world)
    }
    machines |= {name: _of_pool(each) for name, each in listed_alone(world, asked_for).items()}
    return Fleet(machines=machines)


def listed_alone(world: World, asked_for: Container[str]) -> Mapping[str, Machine]:
    """Machines that a believed listing shows and that no Node and no request tells of, by name."""
    believes = world.ledger.brakes.believes
    listings = (sight.listing for key, sight in world.clouds.items() if believes(key))
    return {
        name: each
        for listing in listings
        # Nearly all of them have a Node, which is seen at a glance.
        if listing is not None and not listing.machines.keys() <= world.cluster.nodes.keys()
        for name, each in listing.machines.items()
        if each.state is not MachineState.DELETING
        and name not in world.cluster.nodes
        and name not in asked_for
    }


def _of_pool(listed: Machine) -> CountedMachine:
    """A listing tells neither type nor price: it counts among the nodes of its pool alone."""
    return CountedMachine(listed.pool, ServerTypeName(""), 0, Resources({}))


def may_have_machine(request: NodeRequest, world: World) -> bool:
    """Whether the request's machine exists or may come."""
    return request.status.phase is not RequestPhase.UNMET and not _was_given_back(request, world)


def _was_given_back(request: NodeRequest, world: World) -> bool:
    """Whether it served, and neither its node nor its cloud shows it any more.

    The request is kept for a while all the same, so that people can read what became of it.
    """
    # Nearly always its node is there.
    if request.name in world.cluster.nodes:
        return False
    ready_at, pool = request.status.ready_at, world.pools.get(request.spec.pool)
    if request.status.phase is not RequestPhase.READY or ready_at is None or pool is None:
        return False
    key = node_class_of(pool, world)
    sight = world.clouds.get(key)
    if sight is None or sight.listing is None or not world.ledger.brakes.believes(key):
        return False
    return sight.listing.at.wall > ready_at and request.name not in sight.listing.machines


def nodes_of_pools(world: World) -> Mapping[str, CountedMachine]:
    """The nodes of all pools, by name; counted once for each snapshot of the cluster."""
    return world.cluster.remembered("nodes of pools", lambda: _nodes_of_pools(world))


def _nodes_of_pools(world: World) -> Mapping[str, CountedMachine]:
    return {
        node.name: _standing(node)
        for node in world.cluster.nodes.values()
        if INSTANCE_TYPE_LABEL in node.labels and POOL_LABEL in node.labels
    }


def _standing(node: Node) -> CountedMachine:
    return CountedMachine(
        pool=node.labels[POOL_LABEL],
        server_type=ServerTypeName(node.labels[INSTANCE_TYPE_LABEL]),
        price=_written_price(node),
        resources=node.allocatable,
    )


def _written_price(node: Node) -> int:
    try:
        return int(Decimal(node.metadata.annotations.get(PRICE_ANNOTATION, "0")) * 1_000_000)
    except (InvalidOperation, ValueError, OverflowError):
        # Somebody else's writing; the request's price has counted as long as there was one.
        return 0


def standing_of(request: NodeRequest) -> CountedMachine:
    """A request's machine, as it was planned."""
    spec = request.spec
    resources = parse_resources({name: str(amount) for name, amount in spec.resources.items()})
    return CountedMachine(spec.pool, spec.server_type, planned_price(request), resources)


def planned_price(request: NodeRequest) -> int:
    """Millionths an hour of its machine, as it was planned."""
    return int(request.spec.price * 1_000_000)


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """What may be bought now: offers that nobody refuses, and how much limits leave of them."""

    items: tuple[Purchasable, ...]
    fleet: Fleet
    bought: Mapping[str, int] = {}
    """Machines that each pool has bought within the last hour."""
    singles: Mapping[str, frozenset[str]] = {}
    """Of these offers together one machine may be had, as nobody knows whether there are more."""
    shared: tuple[Limit, ...] = ()
    """What is left of what several offers live on."""
    in_total: tuple[Left, ...] = ()
    """What is left of the limits of all pools together."""

    def limits(self) -> tuple[Left, ...]:
        """What may still be bought, of each pool and of all together."""
        found: list[Left] = []
        counts = self.fleet.counts()
        for name, pool in sorted(self._pools().items()):
            own = [item for item in self.items if item.pool.name == name]
            found += _maxima(pool, own, counts=counts)
            found += _brakes(pool, own, fleet=self.fleet, bought=self.bought.get(name, 0))
        others = (Left(limit) for limit in (*self._singles(), *self.shared))
        return (*found, *others, *self.in_total)

    def minima(self) -> tuple[Minimum, ...]:
        """What pools keep even without load and don't have yet."""
        counts = self.fleet.counts()
        return tuple(
            minimum
            for name, pool in sorted(self._pools().items())
            for minimum in _minima(
                pool, [item for item in self.items if item.pool.name == name], counts=counts
            )
        )

    def _singles(self) -> Iterator[Limit]:
        sold = {item.name for item in self.items}
        for text, offers in self.singles.items():
            amounts = dict.fromkeys(sorted(offers & sold), 1)
            if amounts:
                name = f"on {text}: one machine, until it is known that there are more"
                yield Limit(name=name, amounts=amounts, most=1)

    def _pools(self) -> Mapping[str, NodePool]:
        return {item.pool.name: item.pool for item in self.items}


def _minima(
    pool: NodePool,
    items: Iterable[Purchasable],
    *,
    counts: Mapping[tuple[str, ServerTypeName], int],
) -> Iterator[Minimum]:
    offers = _offers_by_type(items)
    for entry in pool.spec.server_types:
        missing = entry.min - counts.get((pool.name, entry.name), 0)
        if missing > 0 and entry.name in offers:
            name = f"of pool {pool.name}: min of {entry.name}"
            yield Minimum(name=name, offers=frozenset(offers[entry.name]), count=missing)


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
        prices = {item.name: item.price for item in items}
        cost = sum(each.price for each in have)
        yield left_of_limit(of, prices, most=int(spec.hourly_cost * 1_000_000) - cost)


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
