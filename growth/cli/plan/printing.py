"""Prints a plan: a table for people, one document for programs."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from growth.api.wellknown import PLAN_ANNOTATION
from growth.cli.plan import remarks as plan_remarks
from growth.cli.terminal.money import (
    HOURS_A_MONTH,
    added,
    hourly,
    hourly_each,
    monthly,
    the_currency,
)
from growth.cli.terminal.tables import aligned
from reconciler.solver import Stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from growth.api.noderequest import NodeRequest
    from growth.cli.plan.prices import Bill
    from growth.cli.plan.remarks import Remarks
    from growth.scheduling.pod import Pod
    from reconciler.paper.planned import PlanOnPaper

ESTIMATED: Final = "~"
WIDTH: Final = 100
SHOWN: Final = 20
"""The number of reasons that are listed in text output."""
COLUMNS: Final = ("POOL", "TYPE", "PLACE", "NODES", "PODS", "CPU", "MEMORY", "PER HOUR")
TO_THE_RIGHT: Final = frozenset({"NODES", "PODS", "CPU", "MEMORY", "PER HOUR"})


class PlanReport(NamedTuple):
    """Everything that is printed."""

    paper: PlanOnPaper
    bill: Bill
    remarks: Remarks


def plan_document(plan: PlanReport, *, seconds: float) -> dict[str, Any]:
    """The plan for programs."""
    paper, bill = plan.paper, plan.bill
    costs, is_one = costs_of_plan(paper), is_in_one_currency(paper)
    return {
        "result": result_of(paper),
        "currency": the_currency(costs),
        "costs": {name: float(cost) for name, cost in costs.items()},
        "cost": float(cost_of_plan(paper)) if is_one else None,
        "lowerBound": float(bound_of(paper)) if is_one else None,
        "gap": gap_of(paper),
        "firstFitCost": float(first_fit_of(paper)) if is_one else None,
        "nodes": [_node(name, paper, bill) for name in paper.requests],
        "unplaced": [{"pod": pod.name, "reason": reason} for pod, reason in paper.unplaced],
        "stop": stop_of(paper),
        "seconds": round(seconds, 3),
        "costPerMonth": float(month_of_plan(paper, paper.requests)) if is_one else None,
        "prices": msgspec.to_builtins(bill.origin),
        "notOffered": msgspec.to_builtins(bill.not_offered),
        **msgspec.to_builtins(plan.remarks),
    }


def _node(name: str, paper: PlanOnPaper, bill: Bill) -> dict[str, Any]:
    spec = paper.requests[name].spec
    return {
        "pool": spec.pool,
        "serverType": str(spec.server_type),
        "location": spec.location,
        "price": float(spec.price),
        "currency": spec.currency,
        "pricePerMonth": float(month_of_plan(paper, [name])),
        "estimated": bill.is_estimated(spec),
        "nextBest": next_best(paper.requests[name]),
        "pods": [pod.name for pod in paper.pods.get(name, ())],
    }


def next_best(request: NodeRequest) -> dict[str, Any] | None:
    """The cheapest other type that has room for the node's pods, and its price per hour."""
    found = json.loads(request.metadata.annotations[PLAN_ANNOTATION])["next"]
    return None if found is None else {"type": found["type"], "price": float(found["price"])}


def month_of_plan(paper: PlanOnPaper, names: Iterable[str]) -> Decimal:
    """The monthly cost of these machines: all hours, or their monthly maximum."""
    offerings = (paper.items[name].offering for name in names)
    hours = ((each.price * HOURS_A_MONTH, each.monthly_cap) for each in offerings)
    return sum((paid if cap is None else min(paid, cap) for paid, cap in hours), Decimal(0))


def result_of(paper: PlanOnPaper) -> str:
    """AllPlaced, NoDemands or IncompletePlacement."""
    if paper.unplaced:
        return "IncompletePlacement"
    return "AllPlaced" if paper.pods else "NoDemands"


def costs_of_plan(paper: PlanOnPaper) -> dict[str, Decimal]:
    """The cost of all machines of the plan per hour, by currency."""
    specs = (request.spec for request in paper.requests.values())
    return added((spec.currency, spec.price) for spec in specs)


def is_in_one_currency(paper: PlanOnPaper) -> bool:
    """Whether amounts of the plan can be added and compared."""
    steps = {step.currency for plan in paper.plans for step in plan.steps}
    return len(costs_of_plan(paper)) <= 1 and len(steps) <= 1


def cost_of_plan(paper: PlanOnPaper) -> Decimal:
    """The cost of all machines of the plan per hour, if it is in one currency."""
    return sum((request.spec.price for request in paper.requests.values()), Decimal(0))


def bound_of(paper: PlanOnPaper) -> Decimal:
    """The cost that no plan of the same rounds can go below."""
    return Decimal(sum(plan.bound for plan in paper.plans)) / 1_000_000


def first_fit_of(paper: PlanOnPaper) -> Decimal:
    """The cost of a first-fit plan."""
    return Decimal(sum(plan.first_fit_cost for plan in paper.plans)) / 1_000_000


def gap_of(paper: PlanOnPaper) -> float | None:
    """How far the cost is above the bound, as a fraction; None if there is no bound.

    It is also None with several currencies, because each of them has its own bound, if pods were
    planned in several rounds, and if it isn't known whether pods must be left out.
    """
    if not is_in_one_currency(paper) or rounds_of(paper) > 1 or is_unsure_of_pods(paper):
        return None
    cost, bound = cost_of_plan(paper), bound_of(paper)
    if not bound:
        return None if cost else 0.0
    return round(float(cost / bound - 1), 6)


def rounds_of(paper: PlanOnPaper) -> int:
    """How many plans were made one after the other: each is bound by those before it."""
    return sum(bool(plan.nodes) for plan in paper.plans)


def is_unsure_of_pods(paper: PlanOnPaper) -> bool:
    """Whether a plan leaves pods out, and others might place them."""
    sure = {Stop.PROVEN, Stop.NOTHING_TO_DO}
    return any(plan.unplaced and plan.stop not in sure for plan in paper.plans)


def stop_of(paper: PlanOnPaper) -> str:
    """What ended the search; with several rounds, the weakest reason: a proof is of one round."""
    stops = [plan.stop for plan in paper.plans]
    if rounds_of(paper) > 1:
        stops = [stop for stop in stops if stop is not Stop.PROVEN] or [Stop.DRY]
    return stops[-1].value if stops else Stop.NOTHING_TO_DO.value


def plan_table(plan: PlanReport, *, seconds: float) -> Iterator[str]:
    """The plan for people."""
    paper, bill = plan.paper, plan.bill
    rows = list(_rows(paper, bill))
    if rows:
        yield from aligned([COLUMNS, *rows, _total(paper, bill)], to_the_right=TO_THE_RIGHT)
        yield ""
        yield _quality(paper, seconds)
    elif paper.pods:
        yield "Nothing to buy: all pods fit on the existing nodes."
    elif not paper.unplaced:
        yield "Nothing to plan: no pod is waiting for a node."
    yield from _origin(bill)
    yield from _reasons(paper)
    if paper.unplaced:
        yield from _without_place(paper.unplaced)
    for each in bill.not_offered:
        yield f"pool {each.pool}: {each.reason}"
    yield from plan_remarks.lines(plan.remarks)


def _origin(bill: Bill) -> Iterator[str]:
    if bill.origin is not None:
        origin = bill.origin
        yield f"prices in {origin.currency} before taxes, Hetzner {origin.date} ({origin.origin})"
        if bill.estimated:
            yield f"{ESTIMATED} estimated; get current prices with growth catalogue save"


def _reasons(paper: PlanOnPaper) -> Iterator[str]:
    """For each offer that is bought, the cost of the next best type."""
    if paper.requests:
        yield "why these types:"
    for (pool, server_type, place, price), names in _alike(paper):
        others = [each for name in names if (each := next_best(paper.requests[name]))]
        is_used = any(paper.pods.get(name) for name in names)
        reason = _compared(price, others) if is_used else "required by the pool's min"
        yield f"  {server_type} in {place} for {pool}: {reason}"


def _compared(price: Decimal, others: Sequence[dict[str, Any]]) -> str:
    if not others:
        return "no other type of the pool fits these pods"
    best = min(others, key=lambda each: each["price"])
    dearer = (best["price"] / float(price) - 1) * 100
    if dearer < 0:
        return (
            f"{best['type']} costs {hourly(best['price'])}, but limits or topology spread rule it "
            f"out"
        )
    return f"next best {best['type']} at {hourly(best['price'])} (+{dearer:.0f} %)"


def _quality(paper: PlanOnPaper, seconds: float) -> str:
    if not is_in_one_currency(paper):
        return (
            f"planned separately for each currency, as currencies aren't compared · {seconds:.2f} s"
        )
    rounds = rounds_of(paper)
    proof = f"planned in {rounds} rounds, cost not proven" if rounds > 1 else _proof(gap_of(paper))
    return f"{proof} · first-fit {hourly(first_fit_of(paper))} · {seconds:.2f} s"


def _proof(gap: float | None) -> str:
    if gap is None:
        return "cost not proven"
    return "proven optimal" if gap <= 0 else f"proven within {gap * 100:.2g} % of the optimum"


def _rows(paper: PlanOnPaper, bill: Bill) -> Iterator[tuple[str, ...]]:
    """A row for all machines of one offer."""
    is_mixed = len(costs_of_plan(paper)) > 1
    for (pool, server_type, place, price), names in _alike(paper):
        spec = paper.requests[names[0]].spec
        pods = [pod for name in names for pod in paper.pods.get(name, ())]
        mark = ESTIMATED if bill.is_estimated(spec) else ""
        fill = (_fill(paper, names, pods, resource) for resource in ("cpu", "memory"))
        counts = (str(len(names)), str(len(pods)))
        cost = hourly(price * len(names), spec.currency if is_mixed else "")
        yield (pool, server_type, place, *counts, *fill, f"{mark}{cost}")


def _alike(paper: PlanOnPaper) -> list[tuple[tuple[str, str, str, Decimal], list[str]]]:
    """The machines of each offer; spot and on demand are separate, even if the type is the same."""
    alike: defaultdict[tuple[str, str, str, Decimal], list[str]] = defaultdict(list)
    for name, request in paper.requests.items():
        spec = request.spec
        alike[spec.pool, spec.server_type.canonical, spec.location, spec.price].append(name)
    return sorted(alike.items())


def _fill(paper: PlanOnPaper, names: Sequence[str], pods: Iterable[Pod], resource: str) -> str:
    room = sum(paper.items[name].room[resource] for name in names)
    used = sum(pod.requests[resource] for pod in pods)
    return f"{used * 100 // room} %" if room else "-"


def _total(paper: PlanOnPaper, bill: Bill) -> tuple[str, ...]:
    costs = costs_of_plan(paper)
    specs = (request.spec for request in paper.requests.values())
    mark = ESTIMATED if any(bill.is_estimated(spec) for spec in specs) else ""
    pods = sum(len(paper.pods.get(name, ())) for name in paper.requests)
    counts = ("", "", "", str(len(paper.requests)), str(pods), "", "")
    if len(costs) > 1:
        return (*counts, f"{mark}{hourly_each(costs)}")
    cost = sum(costs.values(), Decimal(0))
    month = monthly(month_of_plan(paper, paper.requests), the_currency(costs))
    return (*counts, f"{mark}{hourly(cost)}", f"({mark}{month} per month)")


def _without_place(unplaced: Sequence[tuple[Pod, str]]) -> Iterator[str]:
    """Pods by reason; if several have the same one, the first and their number."""
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for pod, reason in unplaced:
        by_reason[reason].append(pod.name)
    pods = "1 pod has" if len(unplaced) == 1 else f"{len(unplaced)} pods have"
    yield f"{pods} no place:"
    for reason, names in list(by_reason.items())[:SHOWN]:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        line = f"{names[0]}{more}   {reason}"
        yield textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="      ")
    if len(by_reason) > SHOWN:
        yield f"  and {len(by_reason) - SHOWN} other reasons: use -o json to see all"
