"""`growth cost`: what pools and workloads cost, what is unused, and what the best plan would cost.

The bound is that of a plan for all that runs now, made here by the code of `growth plan`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.cluster import trouble
from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.lists import reading_lists, tell_left_out
from growth.cli.cluster.names import ALONE
from growth.cli.cluster.survey import surveyed
from growth.cli.cost.spending import NOTHING, spending
from growth.cli.terminal.money import hourly, month_of, monthly
from growth.cli.terminal.output import add_output_argument, coloured, print_answer
from growth.cli.terminal.tables import aligned
from growth.cli.terminal.texts import counted, first_few

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from decimal import Decimal

    from growth.cli.cluster.lists import Lists
    from growth.cli.cluster.names import ShortNames
    from growth.cli.cost.spending import Bound, Share, Spending
    from growth.instant import Instant

SHOWN: Final = 20
LONGEST_NAME: Final = 48
POOLS: Final = ("POOL", "NODES", "PER HOUR", "PER MONTH", "OF ALL", "IDLE")
WORKLOADS: Final = ("WORKLOAD", "PODS", "PER HOUR", "PER MONTH", "OF ALL")
TO_THE_RIGHT: Final = frozenset({*POOLS[1:], *WORKLOADS[1:]})
WITHOUT: Final = "none"
TIMES: Final = 2
"""From this multiple on, a factor is easier to read than a percentage."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "--effort",
        choices=(WITHOUT, "quick", "normal", "thorough"),
        default="quick",
        help="how long to search for the best possible plan (default: quick; none: skip it)",
    )
    parser.add_argument(
        "--catalogue",
        metavar="FILE",
        help="file with Hetzner's prices for that plan, written by growth catalogue save",
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "For example: growth cost, or growth cost --effort none -o json. A pod is charged for the "
        "larger of its shares of its node's CPU and memory; a month has 730 hours."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the cost."""
    found, names = completed(_look(arguments))
    print_answer(arguments, found, spending_lines(found, names))
    return 0


async def _look(arguments: argparse.Namespace) -> tuple[Spending, ShortNames]:
    async with reading_lists(arguments) as lists:
        seen = await surveyed(lists)
        tell_left_out(seen.unreadable)
        found = spending(seen)
        if arguments.effort == WITHOUT or not found.hourly_cost:
            return found, seen.names
        bound = await _bound(arguments, lists, seen.now)
        return msgspec.structs.replace(found, bound=bound), seen.names


async def _bound(arguments: argparse.Namespace, lists: Lists, now: Instant) -> Bound | None:
    try:
        from growth.cli.cost.bound import cost_bound  # noqa: PLC0415 - the engine takes a moment
        from growth.cli.plan.cluster import seen_by  # noqa: PLC0415
    except ModuleNotFoundError:
        # What runs here is enough to say what is paid, not what could be.
        return None
    seen = await seen_by(lists)
    return cost_bound(seen, catalogue=arguments.catalogue, effort=arguments.effort, now=now)


def spending_lines(found: Spending, names: ShortNames = ALONE) -> Iterator[str]:
    """The cost as text."""
    yield from trouble.trouble_line(found.growth)
    if not found.pools:
        yield "No nodes of growth, so no cost."
        return
    is_mixed = len(found.costs) > 1
    pools = (_pool(each, is_mixed=is_mixed) for each in found.pools)
    workloads = (_workload(each, is_mixed=is_mixed) for each in _shown(found))
    yield from aligned([POOLS, *pools], to_the_right=TO_THE_RIGHT)
    yield ""
    yield from aligned([WORKLOADS, *workloads], to_the_right=TO_THE_RIGHT)
    if len(found.workloads) > SHOWN:
        yield (
            f"and {counted(len(found.workloads) - SHOWN, 'other workload')}: use -o json to see all"
        )
    yield ""
    yield _whole(found)
    if found.bound is not None and found.hourly_cost is not None:
        yield from _beside(found.bound, found.hourly_cost, found.currency)
    if found.unpriced:
        nodes = counted(len(found.unpriced), "node")
        unpriced = first_few(map(names.of, found.unpriced))
        yield coloured(f"the price of {nodes} isn't known: {unpriced}", "yellow")


def _shown(found: Spending) -> tuple[Share, ...]:
    return found.workloads[:SHOWN]


def _pool(share: Share, *, is_mixed: bool) -> tuple[str, ...]:
    return (*_workload(share, is_mixed=is_mixed), hourly(share.idle_cost))


def _workload(share: Share, *, is_mixed: bool) -> tuple[str, ...]:
    name = share.name if len(share.name) <= LONGEST_NAME else f"{share.name[: LONGEST_NAME - 1]}…"
    part = f"{share.part * 100:.0f} %"
    return (
        name,
        str(share.count),
        hourly(share.hourly_cost, share.currency if is_mixed else ""),
        monthly(month_of(share.hourly_cost)),
        part,
    )


def _whole(found: Spending) -> str:
    costs = found.costs or {found.currency: NOTHING}
    return "; ".join(_in_currency(currency, found) for currency in costs)


def _in_currency(currency: str, found: Spending) -> str:
    cost, idle = (each.get(currency, NOTHING) for each in (found.costs, found.idle_costs))
    part = idle / cost * 100 if cost else 0
    month = monthly(month_of(cost), currency)
    unused = f"{hourly(idle)} of it ({part:.0f} %) unused"
    return f"{hourly(cost, currency)} per hour ({month} per month), {unused}"


def _beside(bound: Bound, cost: Decimal, currency: str) -> Iterator[str]:
    if bound.currency == currency:
        yield from _compared(cost, bound)
    else:
        prices = bound.currency or "no currency"
        yield f"a new plan has prices in {prices}, so it can't be compared with the current cost"


def _compared(cost: Decimal, bound: Bound) -> Iterator[str]:
    yield f"{_best(bound)}; {_paid(cost, bound.plan_cost)}"
    if bound.unplaced:
        pods = counted(bound.unplaced, "pod")
        yield f"{pods} would have no place in a new plan (not counted in the last line)"


def _best(bound: Bound) -> str:
    best, least = hourly(bound.plan_cost), hourly(bound.lower_bound)
    if best == least:
        return f"best possible: {best} (proven)"
    return f"a new plan: {best}; no plan costs less than {least}"


def _paid(cost: Decimal, best: Decimal) -> str:
    """The current cost, compared with that of a new plan for the same pods."""
    more = cost - best
    if hourly(abs(more)) == hourly(0):
        return "you pay no more than that"
    if more < 0:
        return f"you pay {-more / best * 100:.0f} % less"
    if best and cost >= TIMES * best:
        return f"you overpay {hourly(more)}, {cost / best:.1f} times as much"
    return f"you overpay {hourly(more)}" + (f" ({more / best * 100:.0f} %)" if best else "")
