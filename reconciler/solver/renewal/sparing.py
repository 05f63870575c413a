"""The fewest disturbances that bring a cluster near what its pods would cost anew.

The last tenth of what could be saved takes as many moves as the first half. So the search is asked
with disturbances that count many times at first, and less from time to time, until what is left
costs no more than near the bound; whoever can't get there pays the plain price of a disturbance.
Which of these answers is taken follows from one measure: beyond that mark money and disturbance
count alike, below it a disturbance counts many times.

What has to go may be more than may go at once. Then those of them go first that gain most, and
nobody moves to one that is to go later: nobody is moved twice.
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
"""A disturbance counts so many times less from one question to the next."""
BETWEEN = RUNG**0.5
"""And is asked about once more in between, when that was enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spared:
    """An answer, and how much a disturbance counted for it."""

    chosen: Chosen
    factor: float
    left: float
    """What the cluster costs then."""
    disturbed: float


def sparing(renewal: Renewal, *, bound: int, search: Search, budget: Budget) -> Chosen | None:
    """Who goes now, of those whose end is worth it; None if nobody's is."""
    field = field_of(replace(renewal, most={}))
    if not len(field.holds):
        return None
    near = renewal.near * bound
    best = _Ladder(renewal, field=field, near=near, search=search, budget=budget).best()
    if best is None or _is_allowed(renewal, best.chosen.goes):
        return None if best is None else best.chosen
    return _first(renewal, best, search, budget)


class _Ladder:
    """One question after the other, a disturbance counting less each time."""

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
        """The answer that grieves least."""
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
        """The answer to one question; None where the program says that it can't be near."""
        field = with_disturbance_times(self._field, factor)
        leaning = lean(field, self._budget)
        if factor > 1.0 and self._least_left(field, leaning, factor) > self._near:
            return None
        chosen = _with_all(self._budget, self._search, field, leaning)
        left = self._cost - sum(self._prices[name] for name in chosen.goes) + chosen.plan.cost
        disturbed = sum(self._disturbances[name] for name in chosen.goes)
        return Spared(chosen=chosen, factor=factor, left=left, disturbed=disturbed)

    def _least_left(self, field: Field, leaning: Leaning, factor: float) -> float:
        """What the program would leave of the cost, if nodes were as divisible as it takes them."""
        moved = np.array([node.disturbance for node in field.settled.standing], dtype=np.float64)
        return self._cost - leaning.most - factor * float(moved @ (1.0 - leaning.stays))

    def _grief(self, answer: Spared) -> float:
        beyond = max(0.0, answer.left - self._near)
        return answer.left - beyond + self._reluctance * (beyond + answer.disturbed)


def with_disturbance_times(field: Field, factor: float) -> Field:
    """The same field, in which a disturbance counts so many times."""
    worth = [node.price - factor * node.disturbance for node in field.settled.standing]
    return replace(field, worth_going=np.array(worth, dtype=np.float64))


def _is_allowed(renewal: Renewal, goes: Iterable[str]) -> bool:
    groups = {node.offer: node.group for node in renewal.standing}
    going = Counter(groups[name] for name in goes)
    return all(count <= renewal.most.get(group, count) for group, count in going.items())


def _first(renewal: Renewal, best: Spared, search: Search, budget: Budget) -> Chosen | None:
    """Of those that are to go the ones that go now."""
    field = field_of(_only(renewal, frozenset(best.chosen.goes)))
    if not len(field.holds):
        return None
    field = with_disturbance_times(field, best.factor)
    return _with_all(budget, search, field, lean(field, budget))


def _with_all(budget: Budget, search: Search, field: Field, leaning: Leaning) -> Chosen:
    """One search with the whole effort: how many there are depends on what is asked."""
    own = Budget(budget.ticks, budget.deadline, budget.clock)
    chosen = search(field, leaning, own)
    budget.spend(own.spent)
    return chosen


def _only(renewal: Renewal, goes: frozenset[str]) -> Renewal:
    """The question about these nodes alone, none of which takes anybody in."""
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
