"""How `growth plan` tells its plan: a table for people, one document for programs."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from growth.cli.tables import aligned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from growth.scheduling.pod import Pod
    from reconciler.planning.offline import OnPaper

HOURS_A_MONTH: Final = 730
COLUMNS: Final = ("POOL", "TYPE", "PLACE", "NODES", "PODS", "CPU", "MEMORY", "PER HOUR")
TO_THE_RIGHT: Final = frozenset({"NODES", "PODS", "CPU", "MEMORY", "PER HOUR"})


def document(paper: OnPaper, *, seconds: float) -> dict[str, Any]:
    """The plan for programs."""
    cost, bound = cost_of(paper), bound_of(paper)
    return {
        "result": result_of(paper),
        "cost": float(cost),
        "lowerBound": float(bound),
        "gap": gap_of(paper),
        "firstFitCost": float(first_fit_of(paper)),
        "nodes": [
            {
                "pool": request.spec.pool,
                "serverType": str(request.spec.server_type),
                "location": request.spec.location,
                "price": float(request.spec.price),
                "pods": [pod.name for pod in paper.pods.get(name, ())],
            }
            for name, request in paper.requests.items()
        ],
        "unplaced": [{"pod": pod.name, "reason": reason} for pod, reason in paper.unplaced],
        "stop": stop_of(paper),
        "seconds": round(seconds, 3),
    }


def result_of(paper: OnPaper) -> str:
    """AllPlaced, NoDemands or IncompletePlacement."""
    if paper.unplaced:
        return "IncompletePlacement"
    return "AllPlaced" if paper.pods else "NoDemands"


def cost_of(paper: OnPaper) -> Decimal:
    """What all machines of the plan cost an hour."""
    return sum((request.spec.price for request in paper.requests.values()), Decimal(0))


def bound_of(paper: OnPaper) -> Decimal:
    """What no plan of the same rounds undercuts."""
    return Decimal(sum(plan.bound for plan in paper.plans)) / 1_000_000


def first_fit_of(paper: OnPaper) -> Decimal:
    """What packing first-fit would have paid."""
    return Decimal(sum(plan.first_fit_cost for plan in paper.plans)) / 1_000_000


def gap_of(paper: OnPaper) -> float:
    """How much dearer than the bound, as a fraction."""
    bound = bound_of(paper)
    return round(float(cost_of(paper) / bound - 1), 6) if bound else 0.0


def stop_of(paper: OnPaper) -> str:
    """What ended the search; of several rounds, the last."""
    return paper.plans[-1].stop.value if paper.plans else "nothing to do"


def table(paper: OnPaper, *, seconds: float) -> Iterator[str]:
    """The plan for people."""
    rows = list(_rows(paper))
    if rows:
        yield from aligned([COLUMNS, *rows, _total(paper)], to_the_right=TO_THE_RIGHT)
        yield ""
        yield _quality(paper, seconds)
    elif paper.pods:
        yield "Nothing has to be bought: every pod has room on the nodes that are there."
    elif not paper.unplaced:
        yield "Nothing to plan: no pod waits for a node."
    if paper.unplaced:
        yield from _without_place(paper.unplaced)


def _quality(paper: OnPaper, seconds: float) -> str:
    gap = gap_of(paper)
    proof = "proven optimal" if gap <= 0 else f"proven within {gap * 100:.2g} % of the optimum"
    return f"{proof} · first-fit {first_fit_of(paper):.4f} · {seconds:.2f} s"


def _rows(paper: OnPaper) -> Iterator[tuple[str, ...]]:
    """One row for all machines of one offer."""
    alike: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, request in paper.requests.items():
        spec = request.spec
        alike[spec.pool, spec.server_type.canonical, spec.location].append(name)
    for (pool, server_type, place), names in sorted(alike.items()):
        pods = [pod for name in names for pod in paper.pods.get(name, ())]
        cost = sum((paper.requests[name].spec.price for name in names), Decimal(0))
        fill = (_fill(paper, names, pods, resource) for resource in ("cpu", "memory"))
        yield (pool, server_type, place, str(len(names)), str(len(pods)), *fill, f"{cost:.4f}")


def _fill(paper: OnPaper, names: Sequence[str], pods: Iterable[Pod], resource: str) -> str:
    room = sum(paper.items[name].room[resource] for name in names)
    used = sum(pod.requests[resource] for pod in pods)
    return f"{used * 100 // room} %" if room else "-"


def _total(paper: OnPaper) -> tuple[str, ...]:
    cost = cost_of(paper)
    pods = sum(len(paper.pods.get(name, ())) for name in paper.requests)
    month = f"({cost * HOURS_A_MONTH:.2f} per month)"
    return ("", "", "", str(len(paper.requests)), str(pods), "", "", f"{cost:.4f}", month)


def _without_place(unplaced: Sequence[tuple[Pod, str]]) -> Iterator[str]:
    """Pods by reason; of many with one reason, the first and their number."""
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for pod, reason in unplaced:
        by_reason[reason].append(pod.name)
    pods = "1 pod has" if len(unplaced) == 1 else f"{len(unplaced)} pods have"
    yield f"{pods} no place:"
    for reason, names in by_reason.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"  {names[0]}{more}   {reason}"
