"""What it is worth for a pool by utilisation to have many types: each side of the comparison.

The pods of real clusters (`GROWTH_TRACES`) are summed up, and machines are bought as a run from
zero buys them, at 70 %: once from all types of a price list, once from each type alone that has
room for the largest pod. The best of these is what a person would choose who may choose only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.snapshots import UNSET, problem_of, snapshots
from benchmarks.workloads import RESOURCES, catalogue
from growth.scheduling.resources import CPU, MEMORY, Resources
from reconciler.scaling.utilisation.cover import SoldType, cheapest_mix

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from reconciler.solver import Problem

THRESHOLD: Final = 70
PLENTY: Final = 100_000
MEBI: Final = 2**20
MONEY: Final = 1_000_000
GOAL: Final = 0.9
HEADINGS: Final = "  snapshot           list      many types   one type           ratio"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--threshold", type=int, default=THRESHOLD, help="percent")


def run(arguments: argparse.Namespace) -> None:
    """Print both sides for each snapshot and price list."""
    found = snapshots()
    if not found:
        print(f"skipped: {UNSET}")
        return
    print(f"cost per hour at {arguments.threshold} %; goal: {GOAL} x\n{HEADINGS}")
    for name, path in found.items():
        for listed in ("aws", "hetzner"):
            problem = problem_of(path, catalogue(listed, 0))
            print(_line(name, listed, problem, threshold=arguments.threshold))


def _line(name: str, listed: str, problem: Problem, *, threshold: int) -> str:
    missing = _missing(problem, threshold)
    types = list(_types(problem))
    many = _cost(cheapest_mix(missing, types, most=PLENTY), types)
    largest = _largest(problem)
    alone = {
        each.name: _cost(cheapest_mix(missing, [each], most=PLENTY), [each])
        for each in types
        if each.room.covers(largest)
    }
    best = min(alone, key=lambda each: (alone[each], each))
    return (
        f"  {name:18} {listed:8} {many / MONEY:11.4f} {alone[best] / MONEY:10.4f} ({best:12})"
        f" {many / alone[best]:.3f} x"
    )


def _missing(problem: Problem, threshold: int) -> Resources:
    """What the requests of all pods need, rounded up as the policy does."""
    cpu, memory = (
        sum(each.requests[place] * each.count for each in problem.classes)
        for place in (RESOURCES.index(CPU), RESOURCES.index(MEMORY))
    )
    return _room(-(-cpu * 100 // threshold), -(-memory * 100 // threshold))


def _largest(problem: Problem) -> Resources:
    """The most of each resource that any pod requests."""
    cpu, memory = (
        max(each.requests[place] for each in problem.classes)
        for place in (RESOURCES.index(CPU), RESOURCES.index(MEMORY))
    )
    return _room(cpu, memory)


def _room(cpu: int, mebibytes: int) -> Resources:
    return Resources({CPU: cpu, MEMORY: mebibytes * MEBI})


def _types(problem: Problem) -> Iterator[SoldType]:
    """Each type that any pod may use, at its lowest price."""
    usable = frozenset[str]().union(*(each.offers for each in problem.classes))
    cheapest: dict[str, SoldType] = {}
    for offer in problem.offers:
        room = _room(offer.capacity[RESOURCES.index(CPU)], offer.capacity[RESOURCES.index(MEMORY)])
        sold = SoldType(name=offer.type, room=room, cost=offer.price, most=PLENTY)
        known = cheapest.get(offer.type)
        if offer.name in usable and (known is None or sold.cost < known.cost):
            cheapest[offer.type] = sold
    yield from cheapest.values()


def _cost(mix: dict[str, int] | None, types: Sequence[SoldType]) -> int:
    prices = {each.name: each.cost for each in types}
    return sum(prices[name] * count for name, count in (mix or {}).items())
