"""Cost by pool and by workload, and what is unused."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from growth.cli.cluster.trouble import Trouble
from growth.cli.cost.expenses import Expense, currency_when_bought, expense
from growth.cli.terminal.money import added, the_currency, whole
from growth.keeping.marks import pool_of_node
from growth.scheduling.owners import workload_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.cli.cluster.survey import Survey
    from growth.scheduling.occupancy import Occupancy

NOTHING: Final = Decimal(0)


class Share(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Cost per hour."""

    name: str
    hourly_cost: Decimal
    part: float
    """The share of all costs in its currency."""
    count: int
    """The number of nodes of a pool, or of pods of a workload."""
    idle_cost: Decimal = NOTHING
    """For a pool: the cost of resources that no pod requests."""
    currency: str = ""
    """The currency of its amounts; a pool or workload with two currencies has an entry for each."""


class Bound(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The cost of a new plan for everything that runs."""

    plan_cost: Decimal
    lower_bound: Decimal
    """The cost that no plan can go below."""
    unplaced: int
    """Pods without a place in that plan, which the figures leave out."""
    currency: str = ""
    """The currency of both amounts."""


class Spending(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All costs."""

    hourly_cost: Decimal | None
    """None if there are several currencies."""
    idle_cost: Decimal | None
    pools: tuple[Share, ...]
    workloads: tuple[Share, ...]
    unpriced: tuple[str, ...]
    """Nodes whose price is unknown."""
    bound: Bound | None = None
    currency: str = ""
    """The currency of all amounts, if it is known and the only one."""
    costs: Mapping[str, Decimal] = {}
    """The cost per hour, by currency."""
    idle_costs: Mapping[str, Decimal] = {}
    """The cost per hour of resources that no pod requests, by currency."""
    growth: Trouble | None = None
    """What is wrong with growth itself."""


class _Payer(NamedTuple):
    """A pool or a workload in one currency."""

    currency: str
    name: str


class _Bill(NamedTuple):
    """A node."""

    name: str
    pool: str
    held: Occupancy
    expense: Expense
    currency: str


def spending(seen: Survey) -> Spending:
    """Divide the cost of each of growth's nodes among its pods; the rest is idle."""
    bills = [_bill(name, seen) for name in sorted(seen.kept)]
    costs = added((bill.currency, bill.expense.price) for bill in bills)
    idle = added((bill.currency, bill.expense.idle) for bill in bills)
    return Spending(
        hourly_cost=whole(costs),
        idle_cost=None if whole(costs) is None else whole(idle),
        pools=_of_pools(bills),
        workloads=_of_workloads(bills),
        unpriced=tuple(bill.name for bill in bills if not bill.expense.price),
        currency=the_currency(costs, seen.currency),
        costs=costs,
        idle_costs=idle,
        growth=seen.trouble,
    )


def _bill(name: str, seen: Survey) -> _Bill:
    node, held = seen.scene.cluster.nodes[name], seen.scene.cluster.occupancy(name)
    bought = expense(node, held)
    return _Bill(name, pool_of_node(node), held, bought, currency_when_bought(node, seen))


def _of_pools(bills: Iterable[_Bill]) -> tuple[Share, ...]:
    prices: defaultdict[_Payer, Decimal] = defaultdict(Decimal)
    idle: defaultdict[_Payer, Decimal] = defaultdict(Decimal)
    nodes: Counter[_Payer] = Counter()
    for bill in bills:
        payer = _Payer(bill.currency, bill.pool)
        prices[payer] += bill.expense.price
        idle[payer] += bill.expense.idle
        nodes[payer] += 1
    return _shares(prices, nodes, idle)


def _of_workloads(bills: Iterable[_Bill]) -> tuple[Share, ...]:
    prices: defaultdict[_Payer, Decimal] = defaultdict(Decimal)
    pods: Counter[_Payer] = Counter()
    for bill in bills:
        for pod in bill.held.pods:
            payer = _Payer(bill.currency, str(workload_of(pod)))
            prices[payer] += bill.expense.cost_of(pod)
            pods[payer] += 1
    return _shares(prices, pods, {})


def _shares(
    prices: Mapping[_Payer, Decimal],
    counts: Mapping[_Payer, int],
    idle: Mapping[_Payer, Decimal],
) -> tuple[Share, ...]:
    """The most expensive first, for each currency."""
    sums = added((payer.currency, price) for payer, price in prices.items())
    ordered = sorted(prices, key=lambda each: (each.currency, -prices[each], each.name))
    return tuple(
        Share(
            name=each.name,
            hourly_cost=prices[each],
            part=round(float(prices[each] / sums[each.currency]), 4) if prices[each] else 0.0,
            count=counts[each],
            idle_cost=idle.get(each, NOTHING),
            currency=each.currency,
        )
        for each in ordered
    )
