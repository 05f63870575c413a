"""What the machines of a cluster cost over time, and the lowest possible cost for its pods.

A machine is paid for from the creation of its Node until the Node is gone. The clairvoyant knows at
each moment exactly the pods that are alive and moves them for free: no autoscaler can pay less.
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
"""Seconds between two samples of the living pods."""


class Paid(NamedTuple):
    """One machine: its times, and its price per hour."""

    since: float
    until: float
    price: float


class Bill:
    """All machines of a cluster."""

    def __init__(self, paid: Sequence[Paid]) -> None:
        self.paid = paid

    def rate(self, at: float) -> float:
        """Their cost per hour at one moment."""
        return sum(each.price for each in self.paid if each.since <= at < each.until)

    def count(self, at: float) -> int:
        """Their number at one moment."""
        return sum(each.since <= at < each.until for each in self.paid)

    def between(self, begin: float, end: float) -> float:
        """Their cost over a period: price per hour times seconds."""
        return sum(
            each.price * max(0.0, min(end, each.until) - max(begin, each.since))
            for each in self.paid
        )

    def changes(self, begin: float, end: float) -> list[float]:
        """When machines came or went within a period."""
        moments = (at for each in self.paid for at in (each.since, each.until))
        return sorted(at for at in moments if begin < at <= end)


def bill_of(lives: Lives) -> Bill:
    """The bill of all requested machines; a machine that isn't gone yet has no end."""
    return bill_by(
        lives,
        {name: float(life.newest["spec"]["price"]) for name, life in lives.of("request").items()},
    )


def bill_by(lives: Lives, prices: Mapping[str, float]) -> Bill:
    """The bill of the nodes that have a price, by their names."""
    return Bill(
        [
            Paid(life.moments["created"], life.moments.get("gone", inf), prices[name])
            for name, life in sorted(lives.of("node").items())
            if name in prices
        ]
    )


def alive(lives: Lives, at: float) -> dict[str, int]:
    """The number of pods of each deployment at one moment."""
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
    """Plans for exactly the pods of each moment, with the same price list."""

    def __init__(self, *, prices: str, seed: int, pods: int, deployments: int) -> None:
        self._problem = workload(
            offers=catalogue(prices, seed), pods="heavy", constraints="off",
            classes=deployments, count=pods, seed=seed,
        )  # fmt: skip
        self._known: dict[frozenset[tuple[str, int]], Plan] = {}

    def plan(self, pods: Mapping[str, int]) -> Plan:
        """The plan for this many pods of each deployment."""
        key = frozenset(pods.items())
        if key not in self._known:
            self._known[key] = solve(_with(self._problem, pods), Effort.QUICK)
        return self._known[key]

    def between(self, lives: Lives, begin: float, end: float) -> tuple[float, float]:
        """The cost of a period by its plans, and by their bounds, in the units of a bill."""
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
