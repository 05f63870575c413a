"""Finds the fewest disturbances that bring the cost of a cluster near its bound.

The last tenth of the possible saving takes as many moves as the first half. So the search first
counts each disturbance many times (the factor), and half as much each time, until the remaining
cost is near the bound; the last search counts it once. All answers are compared by one measure:
above the mark near the bound, money and disturbance count the same, and below it a disturbance
counts many times.

The answer may remove more nodes than are allowed at once. Then those that gain most go first, and
pods don't move to nodes that go later, so that no pod moves twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.budget import Budget
from reconciler.solver.renewal.field import field_of
from reconciler.solver.renewal.relax import lean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from reconciler.solver.model.renewal import Renewal
    from reconciler.solver.renewal.field import Field
    from reconciler.solver.renewal.relax import Leaning
    from reconciler.solver.renewal.small import Chosen

    Search = Callable[[Field, Leaning, Budget], Chosen]

RUNG = 2.0
"""The factor is divided by this from one search to the next."""
BETWEEN = RUNG**0.5
"""Once an answer is good enough, one more search tries a factor between the last two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spared:
    """An answer, and the factor of disturbances that it was found with."""

    chosen: Chosen
    factor: float
    left: float
    """The cost of the cluster after the removal."""
    disturbed: float


def sparing(renewal: Renewal, *, bound: int, search: Search, budget: Budget) -> Chosen | None:
    """The nodes to remove now; None if no removal pays."""
    # Limits on how many nodes go at once are ignored at first: the goal is the final state.
    field = field_of(replace(renewal, most={}))
    if not len(field.holds):
        return None
    near = renewal.near * bound
    best = _Ladder(renewal, field=field, near=near, search=search, budget=budget).best()
    if best is None or _is_allowed(renewal, best.chosen.goes):
        return None if best is None else best.chosen
    return _first(renewal, best, search, budget)


class _Ladder:
    """The searches with smaller and smaller factors."""

    def __init__(
        self, renewal: Renewal, *, field: Field, near: float, search: Search, budget: Budget
    ) -> None:
        self._reluctance = renewal.reluctance
        self._field = field
        self._near = near
        self._search = search
        self._budget = budget
        self._prices = {node.offer: node.price for node in renewal.standing}
        self._disturbances = {node.offer: node.disturbance for node in renewal.standing}
        self._cost = sum(self._prices.values())

    def best(self) -> Spared | None:
        """The answer with the lowest grief."""
        found: list[Spared] = []
        for factor in self._rungs():
            answer = self._answer(factor)
            if answer is None:
                continue
            found.append(answer)
            if answer.left <= self._near:
                found += self._between(factor)
                break
        return min(found, key=self._grief, default=None)

    def _rungs(self) -> Iterator[float]:
        factor = self._reluctance
        while factor > 1.0:
            yield factor
            factor /= RUNG
        yield 1.0

    def _between(self, factor: float) -> Iterator[Spared]:
        if factor < self._reluctance:
            answer = self._answer(min(factor * BETWEEN, self._reluctance))
            if answer is not None:
                yield answer

    def _answer(self, factor: float) -> Spared | None:
        """The answer for one factor; None if the linear program rules out a cost near the bound."""
        field = with_disturbance_times(self._field, factor)
        leaning = lean(field, self._budget)
        # Skips a search that can't reach the mark. The last one, with a factor of 1, always runs.
        if factor > 1.0 and self._least_left(field, leaning, factor) > self._near:
            return None
        chosen = _with_all(self._budget, self._search, field, leaning)
        left = self._cost - sum(self._prices[name] for name in chosen.goes) + chosen.plan.cost
        disturbed = sum(self._disturbances[name] for name in chosen.goes)
        return Spared(chosen=chosen, factor=factor, left=left, disturbed=disturbed)

    def _least_left(self, field: Field, leaning: Leaning, factor: float) -> float:
        """The lowest remaining cost by the linear program, in which nodes are divisible."""
        moved = np.array([node.disturbance for node in field.settled.standing], dtype=np.float64)
        return self._cost - leaning.most - factor * float(moved @ (1.0 - leaning.stays))

    def _grief(self, answer: Spared) -> float:
        # Up to the mark, money counts once and disturbances many times. Above it, money counts as
        # much as disturbances, so that a costly answer isn't chosen only because it moves little.
        beyond = max(0.0, answer.left - self._near)
        return answer.left - beyond + self._reluctance * (beyond + answer.disturbed)


def with_disturbance_times(field: Field, factor: float) -> Field:
    """The same field with disturbances that count `factor` times."""
    worth = [node.price - factor * node.disturbance for node in field.settled.standing]
    return replace(field, worth_going=np.array(worth, dtype=np.float64))


def _is_allowed(renewal: Renewal, goes: Iterable[str]) -> bool:
    groups = {node.offer: node.group for node in renewal.standing}
    going = Counter(groups[name] for name in goes)
    return all(count <= renewal.most.get(group, count) for group, count in going.items())


def _first(renewal: Renewal, best: Spared, search: Search, budget: Budget) -> Chosen | None:
    """The part of the best answer that is removed first."""
    field = field_of(_only(renewal, frozenset(best.chosen.goes)))
    if not len(field.holds):
        return None
    field = with_disturbance_times(field, best.factor)
    return _with_all(budget, search, field, lean(field, budget))


def _with_all(budget: Budget, search: Search, field: Field, leaning: Leaning) -> Chosen:
    """One search with the whole effort, because the number of searches isn't known in advance."""
    own = Budget(budget.ticks, budget.deadline, budget.clock)
    chosen = search(field, leaning, own)
    budget.spend(own.spent)
    return chosen


def _only(renewal: Renewal, goes: frozenset[str]) -> Renewal:
    """The renewal with only these nodes, none of which may take pods."""
    problem = renewal.problem
    standing = tuple(node for node in renewal.standing if node.offer in goes)
    held = Counter[str]()
    for node in standing:
        held.update(node.holds)
    return replace(
        renewal,
        standing=standing,
        problem=replace(
            problem,
            classes=tuple(
                replace(pod, count=held[pod.name]) for pod in problem.classes if held[pod.name]
            ),
            offers=tuple(
                replace(offer, capacity=(0,) * len(offer.capacity)) if offer.name in goes else offer
                for offer in problem.offers
            ),
        ),
    )
