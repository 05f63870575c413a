"""The search for the nodes that go: by waste at first, then by taking some back and others out.

How many of the most wasteful nodes go together is tried over a grid, as one alone seldom pays for
what must be bought for its pods. The best of these is improved by small changes drawn at random
(from a fixed seed): some nodes come back, something bought is given back, others go; whoever is
loose finds room or is bought for; then whatever else fits goes, too. What gains more stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.renew_trial import Trial, ranks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.budget import Budget
    from reconciler.solver.renew_field import Field
    from reconciler.solver.renew_relax import Leaning

GRID = 24
"""So many numbers of nodes are tried at first."""
FINALISTS = 4
"""So many of these are bought for, to see what they really gain."""
SWEPT = 12
"""So many further nodes are asked whether they fit after a small change."""
PATIENCE = 400
"""Changes in a row without a gain, after which the answer is as good as it gets."""
CLOSE = 0.0005
"""A share of what could be gained at most that no further effort is spent on."""


class RenewalSearch:
    """The best trial so far, and how it came about."""

    def __init__(self, field: Field, leaning: Leaning, budget: Budget) -> None:
        self.field = field
        self.leaning = leaning
        self.budget = budget
        self.ranks = ranks_of(field, leaning)
        self.order = np.argsort(-leaning.waste, kind="stable")
        self.chance = np.random.default_rng(1)
        self.used = field.holds @ field.goods.size
        self.best = Trial.of(self.ranks)
        # A change deals a few nodes' classes over all places; a copy touches every cell once.
        self.cell = 0.0006 * len(field.places) * field.goods.size.shape[1]
        self.copying = 20 + 0.0002 * self.best.came.size

    def run(self) -> Trial:
        """The best trial that the effort finds; nothing gone, where nothing gains."""
        for trial in self._by_waste():
            self._keep(self._swept(trial, self.order.tolist()))
        idle = 0
        while idle < PATIENCE and not self.budget.over and not self._is_close():
            idle = 0 if self._keep(self._changed(self.best)) else idle + 1
        return self.best

    def _is_close(self) -> bool:
        return self.best.gain >= self.leaning.most * (1 - CLOSE)

    def _keep(self, trial: Trial) -> bool:
        """Take a trial as the best when everybody has a place and it gains more."""
        better = not trial.loose.any() and _rank(trial) > _rank(self.best)
        if better:
            self.best = trial
        return better

    def _by_waste(self) -> Sequence[Trial]:
        """The most wasteful nodes together, so many as promise most, with what is bought."""
        leant = float((1 - self.leaning.stays).sum())
        most = len(self.order)
        near = np.linspace(0.5, 1.2, GRID // 2) * leant
        numbers = np.unique(np.clip([*near, *np.linspace(1, most, GRID // 2)], 1, most).astype(int))
        hopeful: list[tuple[float, int, Trial]] = []
        for number in numbers.tolist():
            trial = Trial.of(self.ranks)
            self._remove(trial, self.order[:number].tolist())
            worth = trial.gain - float(self.leaning.values.units @ trial.loose)
            hopeful.append((-worth, number, trial))
            if self.budget.over:
                break
        finalists = [trial for _, _, trial in sorted(hopeful, key=lambda one: one[:2])[:FINALISTS]]
        for trial in finalists:
            trial.settle(self.leaning, self.budget)
        return finalists

    def _remove(self, trial: Trial, nodes: Sequence[int]) -> None:
        classes = int((self.field.holds[nodes].sum(axis=0) > 0).sum())
        self.budget.spend(20 + classes * (25 + self.cell))
        trial.remove(nodes)

    def _swept(self, trial: Trial, nodes: Sequence[int]) -> Trial:
        """Each of these nodes gone whose pods all find room as it is."""
        if trial.loose.any():
            return trial
        for i in nodes:
            if self.budget.over or not trial.may_go(i):
                continue
            room = np.maximum(trial.free[trial.is_open], 0.0).sum(axis=0)
            own = np.maximum(trial.free[trial.ranks.row[i]], 0.0)
            self.budget.spend(10 + self.cell)
            if (self.used[i] > room - own).any():
                continue
            tried = trial.copy()
            self.budget.spend(self.copying)
            self._remove(tried, [i])
            trial = trial if tried.loose.any() else tried
        return trial

    def _changed(self, best: Trial) -> Trial:
        """Some come back, something bought is given back, others go; then all is settled."""
        trial, chance = best.copy(), self.chance
        back, sold, out = chance.integers(0, (4, 3, 5)).tolist()
        self.budget.spend(self.copying + 60)
        for i in self._some(np.flatnonzero(trial.gone), back, -self.leaning.waste):
            trial.restore(i)
            self.budget.spend(30 + self.cell)
        rows = trial.new_rows()
        for row in chance.permutation(rows)[:sold].tolist():
            trial.close(row)
        staying = np.flatnonzero(~trial.gone)
        self._remove(trial, self._some(staying, out, self.leaning.waste))
        trial.settle(self.leaning, self.budget)
        staying = np.flatnonzero(~trial.gone)
        return self._swept(trial, self._some(staying, SWEPT, self.leaning.waste))

    def _some(self, nodes: NDArray[np.intp], number: int, liking: NDArray[np.float64]) -> list[int]:
        """So many of the nodes, those that are liked more the likelier, the best liked first."""
        if not number or not len(nodes):
            return []
        ranks = np.argsort(np.argsort(-liking[nodes], kind="stable"), kind="stable")
        likely = 1.0 / (3.0 + ranks)
        # Exponential keys: the smallest are a sample without replacement, weighted by `likely`.
        keys = self.chance.exponential(size=len(nodes)) / likely
        chosen = nodes[np.argsort(keys, kind="stable")[:number]]
        best_first: list[int] = chosen[np.argsort(-liking[chosen], kind="stable")].tolist()
        return best_first


def _rank(trial: Trial) -> tuple[float, int]:
    """What trials are compared by: the gain; of equal ones the one in which fewer go."""
    return trial.gain, -int(trial.gone.sum())
