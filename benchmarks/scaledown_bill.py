"""What the machines of a cluster cost over time, and what its pods would have cost at least.

A machine is paid from the moment at which its Node appears until it is gone. The clairvoyant knows
in each moment exactly the pods that are alive and moves them for nothing: no autoscaler undercuts
its bill.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.lives import Life, Lives
    from reconciler.solver import Plan, Problem

MONEY = 1_000_000
"""The solver's prices are millionths."""
STEP = 2.5
"""Seconds between two looks at who is alive."""


class Paid(NamedTuple):
    """One machine: from when to when, and its price an hour."""

    since: float
    until: float
    price: float


class Bill:
    """All machines of a cluster."""

    def __init__(self, paid: Sequence[Paid]) -> None:
        self.paid = paid

    def rate(self, at: float) -> float:
        """What they cost an hour at one moment."""
        return sum(each.price for each in self.paid if each.since <= at < each.until)

    def count(self, at: float) -> int:
        """How many there are at one moment."""
        return sum(each.since <= at < each.until for each in self.paid)

    def between(self, begin: float, end: float) -> float:
        """What they cost in a span of time: hours by price, in seconds."""
        return sum(
            each.price * max(0.0, min(end, each.until) - max(begin, each.since))
            for each in self.paid
        )

    def changes(self, begin: float, end: float) -> list[float]:
        """When a machine came or went in a span of time."""
        moments = (at for each in self.paid for at in (each.since, each.until))
        return sorted(at for at in moments if begin < at <= end)


def bill_of(lives: Lives) -> Bill:
    """The bill of all machines that were requested; what isn't gone yet has no end."""
    prices = {
        name: float(life.newest["spec"]["price"]) for name, life in lives.of("request").items()
    }
    return Bill(
        [
            Paid(life.moments["created"], life.moments.get("gone", inf), prices[name])
            for name, life in sorted(lives.of("node").items())
            if name in prices
        ]
    )


def alive(lives: Lives, at: float) -> dict[str, int]:
    """How many pods of each deployment there are at one moment."""
    found = Counter(
        _owner(life)
        for life in lives.of("pod").values()
        if life.moments["created"] <= at < life.moments.get("gone", inf)
    )
    return dict(found)


def _owner(life: Life) -> str:
    owner: str = life.newest["metadata"]["labels"]["app"]
    return owner


class Clairvoyant:
    """Plans for exactly the pods of each moment, on the same price list."""

    def __init__(self, *, prices: str, seed: int, pods: int, deployments: int) -> None:
        self._problem = workload(
            offers=catalogue(prices, seed), pods="heavy", constraints="off",
            classes=deployments, count=pods, seed=seed,
        )  # fmt: skip
        self._known: dict[frozenset[tuple[str, int]], Plan] = {}

    def plan(self, pods: Mapping[str, int]) -> Plan:
        """The plan for so many pods of each deployment."""
        key = frozenset(pods.items())
        if key not in self._known:
            self._known[key] = solve(_with(self._problem, pods), Effort.QUICK)
        return self._known[key]

    def between(self, lives: Lives, begin: float, end: float) -> tuple[float, float]:
        """What a span of time costs by its plans, and what by their bounds, as a bill tells it."""
        cost = bound = 0.0
        for at, after in pairwise(_moments(begin, end)):
            plan = self.plan(alive(lives, at))
            cost += plan.cost / MONEY * (after - at)
            bound += plan.bound / MONEY * (after - at)
        return cost, bound


def _with(problem: Problem, pods: Mapping[str, int]) -> Problem:
    classes = tuple(
        replace(each, count=pods[each.name]) for each in problem.classes if pods.get(each.name)
    )
    return replace(problem, classes=classes)


def _moments(begin: float, end: float) -> Iterator[float]:
    for number in range(int((end - begin) / STEP)):
        yield begin + number * STEP
    yield end
