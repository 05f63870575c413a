"""Where the money goes: by pool, by workload, and what of it nobody uses."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.cli.cluster.trouble import Trouble
from growth.cli.cost.expenses import Expense, expense
from growth.keeping.marks import pool_of_node
from growth.scheduling.owners import workload_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.cli.cluster.survey import Survey
    from growth.scheduling.occupancy import Occupancy

NOTHING: Final = Decimal(0)


class Share(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What somebody costs an hour."""

    name: str
    hourly_cost: Decimal
    part: float
    """Of all."""
    count: int
    """Nodes of a pool, pods of a workload."""
    idle_cost: Decimal = NOTHING
    """Of a pool: what nobody has asked for."""


class Bound(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What would be paid if all that runs were planned anew."""

    plan_cost: Decimal
    lower_bound: Decimal
    """No plan costs less."""
    unplaced: int
    """Pods that such a plan has no place for, and that the figures leave out."""


class Spending(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the money goes."""

    hourly_cost: Decimal
    idle_cost: Decimal
    pools: tuple[Share, ...]
    workloads: tuple[Share, ...]
    unpriced: tuple[str, ...]
    """Nodes of which nobody knows the price."""
    bound: Bound | None = None
    currency: str = ""
    """Of all amounts, if it is known."""
    growth: Trouble | None = None
    """What is wrong with growth itself."""


class _Bill(NamedTuple):
    """One node."""

    name: str
    pool: str
    held: Occupancy
    expense: Expense


def spending(seen: Survey) -> Spending:
    """Every node of ours is split among the pods on it; what is left is idle."""
    bills = [_bill(name, seen) for name in sorted(seen.kept)]
    return Spending(
        hourly_cost=_sum(bill.expense.price for bill in bills),
        idle_cost=_sum(bill.expense.idle for bill in bills),
        pools=_of_pools(bills),
        workloads=_of_workloads(bills),
        unpriced=tuple(bill.name for bill in bills if not bill.expense.price),
        currency=seen.currency,
        growth=seen.trouble,
    )


def _bill(name: str, seen: Survey) -> _Bill:
    node, held = seen.scene.cluster.nodes[name], seen.scene.cluster.occupancy(name)
    return _Bill(name, pool_of_node(node), held, expense(node, held))


def _of_pools(bills: Iterable[_Bill]) -> tuple[Share, ...]:
    prices: defaultdict[str, Decimal] = defaultdict(Decimal)
    idle: defaultdict[str, Decimal] = defaultdict(Decimal)
    nodes: Counter[str] = Counter()
    for bill in bills:
        prices[bill.pool] += bill.expense.price
        idle[bill.pool] += bill.expense.idle
        nodes[bill.pool] += 1
    return _shares(prices, nodes, idle)


def _of_workloads(bills: Iterable[_Bill]) -> tuple[Share, ...]:
    prices: defaultdict[str, Decimal] = defaultdict(Decimal)
    pods: Counter[str] = Counter()
    for bill in bills:
        for pod in bill.held.pods:
            owner = str(workload_of(pod))
            prices[owner] += bill.expense.cost_of(pod)
            pods[owner] += 1
    return _shares(prices, pods, {})


def _shares(
    prices: Mapping[str, Decimal], counts: Mapping[str, int], idle: Mapping[str, Decimal]
) -> tuple[Share, ...]:
    """The dearest first."""
    whole = _sum(prices.values())
    return tuple(
        Share(
            name=name,
            hourly_cost=price,
            part=round(float(price / whole), 4) if whole else 0.0,
            count=counts[name],
            idle_cost=idle.get(name, NOTHING),
        )
        for name, price in sorted(prices.items(), key=lambda one: (-one[1], one[0]))
    )


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, NOTHING)
