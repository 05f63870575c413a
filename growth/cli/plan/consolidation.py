"""Prints the result of `growth plan --consolidate`: nodes to remove, and nodes to buy instead."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from growth.cli.cluster.names import ShortNames
from growth.cli.terminal.money import HOURS_A_MONTH, hourly, monthly
from growth.cli.terminal.tables import aligned
from growth.cli.terminal.texts import first_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.noderequest import NodeRequest
    from reconciler.paper.consolidated import Hindrance, Leaving, RenewalOnPaper

MILLION: Final = 1_000_000
SHOWN: Final = 20
"""The number of nodes that stay, as listed in text output."""
COLUMNS: Final = ("", "POOL", "TYPE", "PLACE", "NODES", "PODS", "PER HOUR")
TO_THE_RIGHT: Final = frozenset({"NODES", "PODS", "PER HOUR"})


def consolidation_document(paper: RenewalOnPaper, *, seconds: float) -> dict[str, Any]:
    """The result for programs."""
    return {
        "result": "Cheaper" if paper.goes else "NothingToGain",
        "currency": paper.currency,
        "cost": paper.cost / MILLION,
        "saving": paper.saving / MILLION,
        "savingPerMonth": round(paper.saving * HOURS_A_MONTH / MILLION, 6),
        "goes": [_leaving(each) for each in paper.goes],
        "comes": [_coming(each) for each in paper.comes],
        "evictions": sum(len(each.pods) for each in paper.goes),
        "held": [{"node": name, "reason": why} for name, why in sorted(paper.held.items())],
        "idle": list(paper.idle),
        "hindrance": None if paper.hindrance is None else _hindrance(paper.hindrance),
        "seconds": round(seconds, 3),
    }


def _hindrance(found: Hindrance) -> dict[str, Any]:
    limits, pools = list(found.limits), list(found.pools)
    return {"limits": limits, "pools": pools, "saving": found.saving / MILLION}


def _leaving(each: Leaving) -> dict[str, Any]:
    return {
        "node": each.name,
        "pool": each.pool,
        "serverType": each.server_type,
        "price": each.price / MILLION,
        "pods": [pod.name for pod in each.pods],
    }


def _coming(each: NodeRequest) -> dict[str, Any]:
    return {
        "pool": each.spec.pool,
        "serverType": str(each.spec.server_type),
        "location": each.spec.location,
        "price": float(each.spec.price),
    }


def consolidation_table(paper: RenewalOnPaper, *, seconds: float) -> Iterator[str]:
    """The result for people. Nothing is changed in the cluster."""
    if paper.goes:
        yield from aligned([COLUMNS, *_gone(paper), *_came(paper)], to_the_right=TO_THE_RIGHT)
        yield ""
        yield from _summary(paper, seconds)
    else:
        cost = hourly(paper.cost / MILLION, paper.currency)
        yield f"Nothing cheaper is possible within the pools' limits: {cost} per hour."
        if paper.hindrance is not None:
            yield from _hindered(paper, paper.hindrance)
    names = ShortNames([*paper.held, *paper.idle, *(each.name for each in paper.goes)])
    if paper.idle:
        shown = first_few(map(names.of, paper.idle))
        yield f"  idle nodes that are removed anyway get no pods: {shown}"
    for name, why in sorted(paper.held.items())[:SHOWN]:
        yield names.in_text(f"  {name} stays: {why}")
    if len(paper.held) > SHOWN:
        yield f"  and {len(paper.held) - SHOWN} other nodes stay: use -o json to see all"


def _hindered(paper: RenewalOnPaper, found: Hindrance) -> Iterator[str]:
    limits, pools = " and ".join(found.limits), " and ".join(found.pools)
    cost = hourly((paper.cost - found.saving) / MILLION, paper.currency)
    yield f"Without {limits} of pool {pools}: {cost} per hour."
    yield "While pods move, both the old and the new machine count."


def _gone(paper: RenewalOnPaper) -> Iterator[tuple[str, ...]]:
    alike: defaultdict[tuple[str, str], list[Leaving]] = defaultdict(list)
    for each in paper.goes:
        alike[each.pool, each.server_type].append(each)
    for (pool, server_type), nodes in sorted(alike.items()):
        pods = sum(len(each.pods) for each in nodes)
        price = sum(each.price for each in nodes) / MILLION
        yield "goes", pool, server_type, "", str(len(nodes)), str(pods), f"-{hourly(price)}"


def _came(paper: RenewalOnPaper) -> Iterator[tuple[str, ...]]:
    alike: defaultdict[tuple[str, str, str], list[NodeRequest]] = defaultdict(list)
    for each in paper.comes:
        spec = each.spec
        alike[spec.pool, spec.server_type.canonical, spec.location].append(each)
    for (pool, server_type, place), requests in sorted(alike.items()):
        price = float(sum(each.spec.price for each in requests))
        yield "comes", pool, server_type, place, str(len(requests)), "", hourly(price)


def _summary(paper: RenewalOnPaper, seconds: float) -> Iterator[str]:
    before, saving = paper.cost / MILLION, paper.saving / MILLION
    pods = sum(len(each.pods) for each in paper.goes)
    yield (
        f"{hourly(before)} per hour becomes {hourly(before - saving, paper.currency)}, "
        f"{saving * 100 / before:.0f} % less ({monthly(saving * HOURS_A_MONTH)} per month) · "
        f"{pods} pods move once · {seconds:.2f} s"
    )
    yield "Nothing was changed: the reconciler does this step by step, as the pools' budgets allow."
