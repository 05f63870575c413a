"""What each pool has: machines on their way, nodes, ready nodes, and the cost per hour."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.api.nodepool_status import CurrencyCost, ServerTypeCount
from growth.api.noderequest import COMING
from reconciler.facts.fleet import nodes_of_pools, planned_price
from reconciler.facts.serving import serves_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from reconciler.core.world import World


class MachineSort(NamedTuple):
    """Machines of one type in one pool."""

    pool: str
    server_type: ServerTypeName


class MachineTally(msgspec.Struct, kw_only=True):
    """How many machines of one sort there are."""

    nodes: int = 0
    ready: int = 0
    requested: int = 0
    costs: Counter[str] = msgspec.field(default_factory=Counter)
    """Per hour, in millionths, by currency; "" if the currency is unknown."""


NOTHING: Final = MachineTally()


def tallies(world: World) -> Mapping[MachineSort, MachineTally]:
    """The counts of all pools; a node and a request with the same name are one machine."""
    found: defaultdict[MachineSort, MachineTally] = defaultdict(MachineTally)
    nodes = nodes_of_pools(world)
    for name, standing in nodes.items():
        tally = found[MachineSort(standing.pool, standing.server_type)]
        tally.nodes += 1
        tally.ready += serves_now(world.cluster.nodes[name], world)
        request = world.requests.get(name)
        # The request is growth's own record. The annotation on a Node can be edited, and counts
        # once the request is gone.
        price = standing.price if request is None else planned_price(request)
        tally.costs[standing.currency] += price
    for name, request in world.requests.items():
        if name not in nodes and request.status.phase in COMING:
            tally = found[MachineSort(request.spec.pool, request.spec.server_type)]
            tally.requested += 1
            tally.costs[request.spec.currency] += planned_price(request)
    return found


def counted_machines(
    pool: NodePool, found: Mapping[MachineSort, MachineTally], *, currency: str
) -> Mapping[str, object]:
    """Fields of the pool's status; types in its spec come first, then others that it still has.

    `currency` is the one that the pool buys in. Other currencies are counted separately.
    """
    own = {sort.server_type: tally for sort, tally in found.items() if sort.pool == pool.name}
    counts = tuple(_counts(pool, own))
    costs = _costs(own.values(), currency)
    return {
        "nodes": sum(each.nodes for each in counts),
        "ready": sum(each.ready for each in counts),
        "wanted": sum(each.nodes + each.requested for each in counts),
        "hourly_cost": costs.pop(currency, Decimal(0)),
        "currency": currency,
        "other_costs": tuple(
            CurrencyCost(currency=other, hourly_cost=cost) for other, cost in sorted(costs.items())
        ),
        "server_types": counts,
    }


def _costs(tallies: Iterable[MachineTally], currency: str) -> dict[str, Decimal]:
    """Cost per hour by currency; prices without one count in the pool's currency."""
    found: Counter[str] = Counter()
    for tally in tallies:
        for written, cost in tally.costs.items():
            found[written or currency] += cost
    return {name: Decimal(cost) / 1_000_000 for name, cost in found.items() if cost}


def _counts(
    pool: NodePool, own: Mapping[ServerTypeName, MachineTally]
) -> Iterator[ServerTypeCount]:
    written = [entry.name for entry in pool.spec.server_types]
    others = sorted(own.keys() - set(written))
    before = {each.name.written: each for each in pool.status.server_types}
    for name in (*written, *others):
        tally = own.get(name, NOTHING)
        yield ServerTypeCount.renewed(
            before.get(name.written),
            name=name,
            nodes=tally.nodes,
            ready=tally.ready,
            requested=tally.requested,
        )
