"""The machines that each pool has or will have.

A machine counts from the moment it is decided on until it is gone. Its request exists long before
its node, and is usually deleted long before it; both have the same name and count as one machine.
If the node goes first, the request counts as long as the cloud may have the machine. If neither
exists, because someone deleted the Node, the cloud's listing shows a machine that is paid for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.api.noderequest import NodeRequest, RequestPhase
from growth.api.wellknown import INSTANCE_TYPE_LABEL, POOL_LABEL
from growth.api.written import ServerTypeName
from growth.keeping.marks import currency_on, price_on
from growth.scheduling.resources import Resources, parse_resources
from reconciler.facts.currencies import currency_of_pool
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.port import MachineState

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.providers.port import Machine


class CountedMachine(NamedTuple):
    """One machine as limits see it."""

    pool: str
    server_type: ServerTypeName
    price: int
    resources: Resources
    currency: str = ""
    """Empty where none is known."""


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
    # After the nodes, so that requests win: what stands on a Node, its kubelet or anybody may have
    # written.
    machines |= {
        n: standing_of(each) for n, each in asked_for.items() if may_have_machine(each, world)
    }
    # Where somebody had deleted a Node, its machine counted for no limit until it went as an
    # orphan, and with `limits.nodes` at 1 a second one was bought.
    machines |= {
        name: _listed(each, world) for name, each in listed_alone(world, asked_for).items()
    }
    return Fleet(machines=in_currencies(machines, world))


def in_currencies(
    machines: Mapping[str, CountedMachine], world: World
) -> Mapping[str, CountedMachine]:
    """With the currency of its pool for each machine that none was written down for."""
    pools = {name: currency_of_pool(pool, world) for name, pool in world.pools.items()}
    if not any(pools.values()):
        return machines
    return {
        name: each if each.currency else each._replace(currency=pools.get(each.pool, ""))
        for name, each in machines.items()
    }


def listed_alone(world: World, asked_for: Container[str]) -> Mapping[str, Machine]:
    """Machines that a believed listing shows and that no Node and no request tells of, by name."""
    believes = world.ledger.brakes.believes
    listings = (sight.listing for key, sight in world.clouds.items() if believes(key))
    return {
        name: each
        for listing in listings
        # Nearly all machines have a Node, so this cheap check comes first.
        if listing is not None and not listing.machines.keys() <= world.cluster.nodes.keys()
        for name, each in listing.machines.items()
        if each.state is not MachineState.DELETING
        and name not in world.cluster.nodes
        and name not in asked_for
    }


def _listed(listed: Machine, world: World) -> CountedMachine:
    """As its record says; without one it counts among the nodes of its pool alone."""
    record = world.records.get(listed.name)
    if record is None:
        return CountedMachine(listed.pool, ServerTypeName(""), 0, Resources({}))
    spec = record.spec
    price = int(spec.price * 1_000_000)
    return CountedMachine(spec.pool, spec.server_type, price, Resources({}), spec.currency)


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
        price=int(price_on(node) * 1_000_000),
        resources=node.allocatable,
        currency=currency_on(node),
    )


def standing_of(request: NodeRequest) -> CountedMachine:
    """A request's machine, as it was planned."""
    spec = request.spec
    resources = parse_resources({name: str(amount) for name, amount in spec.resources.items()})
    return CountedMachine(
        spec.pool, spec.server_type, planned_price(request), resources, spec.currency
    )


def planned_price(request: NodeRequest) -> int:
    """Millionths an hour of its machine, as it was planned."""
    return int(request.spec.price * 1_000_000)
