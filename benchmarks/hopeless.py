"""Unsolvable input: how soon the answer comes, and what it says.

Each line is one such input with effort `quick`, as in live planning. It reports CPU seconds, which
don't depend on other programs on the machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.workloads import RESOURCES, catalogue, workload
from reconciler.solver import HOSTNAME, Effort, PodClass, Problem, Together
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from reconciler.solver import Group, Offer

HETZNER = catalogue("hetzner", 0)
AWS = catalogue("aws", 0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are no options."""
    del parser


def run(_: argparse.Namespace) -> int:
    """Solve each, and print the time and the answer."""
    print(
        "input                                     cpu s   work  nodes  left out  the first reason"
    )
    for name, problem in cases():
        begun = time.process_time()
        plan = solve(problem, Effort.QUICK)
        used = time.process_time() - begun
        left = sum(one.count for one in plan.unplaced)
        reason = plan.unplaced[0].reason.text if plan.unplaced else f"gap {plan.gap * 100:.1f} %"
        work = f"{plan.effort / 1e6:5.2f}M"
        print(f"{name:40} {used:6.2f} {work} {len(plan.nodes):6} {left:9}  {reason}")
    return 0


def cases() -> Iterator[tuple[str, Problem]]:
    """Every input with its name."""
    yield "10,000 identical that fit nowhere", problem(_pods(1, cpu=10**6, count=10_000))
    yield "10,000 different that fit nowhere", problem(_pods(10_000, cpu=10**6))
    yield "10,000 different, and no offer", problem(_pods(10_000, cpu=100), offers=())
    yield "10,000 without requests", problem(_pods(1, cpu=0, memory=0, count=10_000))
    yield "one with a million cores", problem(_pods(1, cpu=10**9))
    yield "together, and in two places at once", _torn_between_places()
    yield "together on a node, and apart", _torn_on_a_node()
    for listed, offers in (("aws", AWS), ("hetzner", HETZNER)):
        for pods in ("heavy", "big"):
            name = f"5,000 different, {pods}, {listed}"
            yield name, _different(offers, pods)


def problem(
    classes: Iterable[PodClass],
    *,
    offers: tuple[Offer, ...] = HETZNER,
    groups: tuple[Group, ...] = (),
) -> Problem:
    """Pods, and what may be bought for them."""
    return Problem(resources=RESOURCES, classes=tuple(classes), offers=offers, groups=groups)


def _pods(different: int, *, cpu: int, memory: int = 100, count: int = 1) -> Iterator[PodClass]:
    names = frozenset(offer.name for offer in HETZNER)
    for number in range(different):
        requests = (cpu + number, memory, 0 if not cpu else 1, 0)
        yield PodClass(name=f"pod-{number:05}", requests=requests, count=count, offers=names)


def _torn_between_places() -> Problem:
    places = {
        place: frozenset(offer.name for offer in HETZNER if offer.location == place)
        for place in ("fsn1", "hel1")
    }
    classes = [
        PodClass(name=place, requests=(100, 100, 1, 0), count=5000, offers=names)
        for place, names in places.items()
    ]
    bond = Together(name="near each other", key="zone", members=frozenset(places))
    return problem(classes, groups=(bond,))


def _torn_on_a_node() -> Problem:
    alone = frozenset({"alone"})
    names = frozenset(offer.name for offer in HETZNER)
    pods = PodClass(
        name="torn",
        requests=(100, 100, 1, 0),
        count=10_000,
        offers=names,
        marks=alone,
        repels=alone,
    )
    bond = Together(name="on one node", key=HOSTNAME, members=frozenset({"torn"}))
    return problem([pods], groups=(bond,))


def _different(offers: tuple[Offer, ...], pods: str) -> Problem:
    return workload(offers=offers, pods=pods, constraints="on", classes=5000, count=5000, seed=0)
