"""Prints a staircase: a table for people, one document for programs."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from growth.cli.plan.printing import costs_of_plan
from growth.cli.terminal.money import hourly_each
from growth.cli.terminal.tables import aligned
from growth.scheduling.resources import CPU
from sizing.rule.amounts import Sized

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.cli.plan.stairs import PlannedStair, StairsReport
    from reconciler.paper.planned import PlanOnPaper
    from sizing.rule.staircase import SizeAtLoad

TITLES: Final = {CPU: "CPU", "memory": "MEMORY"}
NOTHING_TO_PLAN_WITH: Final = (
    "for nodes and cost, pass the workload, a NodePool and its node class, too (see "
    "docs/examples/sizing)"
)
AT_THE_LARGEST: Final = "NODES and PER HOUR are for the largest load of each line."


def stairs_table(report: StairsReport) -> Iterator[str]:
    """The staircase for people."""
    loads = " and ".join(
        f"{_written(each.resource, each.lowest)} to {_written(each.resource, each.highest)} of "
        f"{each.resource}"
        for each in report.loads
    )
    yield f"{report.hvpa}: {report.workload}, load of container {report.container}: {loads}"
    yield "\nintervals of all pods together:"
    yield from aligned(list(_intervals(report)))
    for title, stairs in (("the load rises", report.up), ("the load falls", report.down)):
        yield f"\n{title}:"
        yield from aligned([_header(report), *(_row(report, each) for each in stairs)])
    yield ""
    yield from _without_places(report.all_stairs)
    is_planned = any(each.paper for each in report.all_stairs)
    yield AT_THE_LARGEST if is_planned else NOTHING_TO_PLAN_WITH


def stairs_document(report: StairsReport) -> dict[str, Any]:
    """The staircase for programs: CPU in cores, everything else in whole units."""
    return {
        "hvpa": report.hvpa,
        "workload": report.workload,
        "container": report.container,
        "intervals": [
            {
                "replicas": each.replicas,
                "upTo": {name: _number(name, total) for name, total in each.most.items()},
                "downTo": {name: _number(name, total) for name, total in each.least.items()},
            }
            for each in report.intervals
        ],
        "up": [_stair(report, each) for each in report.up],
        "down": [_stair(report, each) for each in report.down],
    }


def _intervals(report: StairsReport) -> Iterator[tuple[str, ...]]:
    """The totals of each number of replicas, for the resources that have a load."""
    names = [each.resource for each in report.loads if each.resource in report.intervals[0].most]
    bounds = [f"{TITLES[name]} {bound}" for name in names for bound in ("UP TO", "DOWN TO")]
    yield ("REPLICAS", *bounds)
    for each in report.intervals:
        totals = (_written(name, of[name]) for name in names for of in (each.most, each.least))
        yield (str(each.replicas), *totals)


def _header(report: StairsReport) -> tuple[str, ...]:
    names = [TITLES[each.resource] for each in report.loads]
    planned = ("NODES", "PER HOUR") if any(each.paper for each in report.all_stairs) else ()
    return (*names, "REPLICAS", *(f"{name} OF A POD" for name in names), *planned)


def _row(report: StairsReport, planned: PlannedStair) -> tuple[str, ...]:
    stair = planned.stair
    ends = (stair.first, stair.last)
    loads = (
        _range(each.resource, *(end.load[each.resource] for end in ends)) for each in report.loads
    )
    sizes = (
        _range(each.resource, *(_size(report, end, each.resource) for end in ends))
        for each in report.loads
    )
    nodes = () if planned.paper is None else _nodes_and_cost(planned.paper)
    return (*loads, str(stair.replicas), *sizes, *nodes)


def _size(report: StairsReport, end: SizeAtLoad, resource: str) -> Fraction:
    return Fraction(end.size.requests[Sized(report.container, resource)])


def _range(resource: str, first: Fraction, last: Fraction) -> str:
    written = [_written(resource, each) for each in (first, last)]
    return written[0] if written[0] == written[1] else " to ".join(written)


def _written(resource: str, amount: Fraction | int) -> str:
    """Cores, or gibibytes, with three digits after the point at most."""
    unit, suffix = (1000, "") if resource == CPU else (1 << 30, "Gi")
    rounded = round(Decimal(Fraction(amount).numerator) / (Fraction(amount).denominator * unit), 3)
    return f"{rounded.normalize():f}{suffix}" if rounded else "0"


def _nodes_and_cost(paper: PlanOnPaper) -> tuple[str, str]:
    counts = Counter(each.spec.server_type.canonical for each in paper.requests.values())
    nodes = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
    left = f", {len(paper.unplaced)} pods without a place" if paper.unplaced else ""
    return f"{nodes}{left}", hourly_each(costs_of_plan(paper))


def _without_places(stairs: Iterable[PlannedStair]) -> Iterator[str]:
    """Each reason once."""
    papers = [each.paper for each in stairs if each.paper is not None]
    reasons = dict.fromkeys(reason for paper in papers for _, reason in paper.unplaced)
    for reason in reasons:
        yield f"no place: {reason}"


def _stair(report: StairsReport, planned: PlannedStair) -> dict[str, Any]:
    stair, paper = planned.stair, planned.paper
    found: dict[str, Any] = {
        "replicas": stair.replicas,
        "from": _end(report, stair.first),
        "to": _end(report, stair.last),
    }
    if paper is not None:
        costs = {name: float(cost) for name, cost in costs_of_plan(paper).items()}
        types = sorted(each.spec.server_type.canonical for each in paper.requests.values())
        found |= {"nodes": types, "costs": costs}
        found["unplaced"] = [{"pod": pod.name, "reason": why} for pod, why in paper.unplaced]
    return found


def _end(report: StairsReport, end: SizeAtLoad) -> dict[str, Any]:
    names = [each.resource for each in report.loads]
    return {
        "load": {name: _number(name, end.load[name]) for name in names},
        "pod": {name: _number(name, _size(report, end, name)) for name in names},
    }


def _number(resource: str, amount: Fraction) -> float:
    return float(amount / 1000) if resource == CPU else float(amount)
