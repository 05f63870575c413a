"""The search for the nodes that go: by waste at first, then by taking some back and others out.

How many of the most wasteful nodes go together is tried over a grid, as one alone seldom pays for
what must be bought for its pods. From there two ways lead on, and both are gone: buying for whoever
found no room, or taking nodes back until everybody has some. The best is then changed at random
(from a fixed seed) in a few places, and whatever else fits goes, too. What gains more stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.renewal.buying import bought_for
from reconciler.solver.renewal.prospects import Prospects
from reconciler.solver.renewal.trial import RenewalTrial, measures_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.budget import Budget
    from reconciler.solver.renewal.field import Field
    from reconciler.solver.renewal.relax import Leaning

GRID = 8
"""So many numbers of nodes are tried at first."""
FINALISTS = 2
"""With so many of these the search goes on."""
ASKED = 40
"""So many further nodes are asked whether they fit after a small change."""
EXCHANGED = 24
"""So many of the dearest nodes are exchanged for cheaper ones, if that gains."""
PATIENCE = 400
"""Changes in a row without a gain, after which the answer is as good as it gets; and how many for
each node that may go, as few nodes are soon looked at from every side."""
PATIENCE_EACH = 5
CLOSE = 0.0005
"""A share of what could be gained at most that no further effort is spent on."""
CHANGES = (8, 3, 5, 2)
"""How many come back, are sold and go in one change, and the ways to settle it: below these."""


class RenewalSearch:
    """The best trial so far, and how it came about."""

    def __init__(self, field: Field, leaning: Leaning, budget: Budget) -> None:
        self.field = field
        self.leaning = leaning
        self.budget = budget
        self.measures = measures_of(field)
        self.use = -leaning.waste
        self.order: list[int] = self.use.argsort(kind="stable").tolist()
        self.chance = np.random.default_rng(1)
        self.best = RenewalTrial.of(self.measures)
        cells = len(field.places) * field.goods.size.shape[1]
        self.dealing = 25 + 0.004 * cells
        """Ticks for finding room for one class, for one node's pods, and for a copy."""
        self.moving = 5 + self.dealing * float((field.holds > 0).sum(axis=1).mean())
        self.copying = 15 + 0.0004 * self.best.came.size

    def run(self) -> RenewalTrial:
        """The best trial that the effort finds; nothing gone, where nothing gains."""
        for trial in self._beginnings():
            self._keep(self._swept(trial, self.order))
        self._exchange()
        idle, patience = 0, min(PATIENCE, PATIENCE_EACH * len(self.order))
        while idle < patience and not self.budget.over and not self._is_close():
            idle = 0 if self._keep(self._changed(self.best)) else idle + 1
        return self.best

    def _is_close(self) -> bool:
        return self.best.gain >= self.leaning.most * (1 - CLOSE)

    def _keep(self, trial: RenewalTrial) -> bool:
        """Take a trial as the best when everybody has a place and it gains more."""
        better = not trial.loose.any() and _rank(trial) > _rank(self.best)
        if better:
            self.best = trial
        return better

    def _beginnings(self) -> Iterator[RenewalTrial]:
        """Nothing gone; and the most wasteful, so many as promise most, settled both ways."""
        yield RenewalTrial.of(self.measures)
        for trial in self._promising():
            yield self._taken_back(trial.copy(), self.order[::-1])
            yield bought_for(trial, self.leaning.values, self.budget)

    def _promising(self) -> Sequence[RenewalTrial]:
        """The most wasteful nodes together, as many as gain most at the prices of the program."""
        hopeful: list[tuple[float, int, RenewalTrial]] = []
        for number in self._numbers():
            if self.budget.over:
                break
            trial = RenewalTrial.of(self.measures)
            self._remove(trial, self.order[:number])
            worth = trial.gain - float(self.leaning.values.units @ trial.loose)
            hopeful.append((-worth, number, trial))
        return [trial for _, _, trial in sorted(hopeful, key=lambda one: one[:2])[:FINALISTS]]

    def _numbers(self) -> list[int]:
        """Many numbers near what the program leans to, and some over all."""
        leant, most = float((1 - self.leaning.stays).sum()), len(self.order)
        near = np.linspace(0.7, 1.1, GRID // 2) * leant
        everywhere = np.linspace(1, most, GRID // 2)
        numbers: list[int] = np.unique(np.clip([*near, *everywhere], 1, most).astype(int)).tolist()
        return numbers

    def _remove(self, trial: RenewalTrial, nodes: Sequence[int]) -> None:
        classes = int(self.field.holds[nodes].any(axis=0).sum())
        self.budget.spend(20 + classes * self.dealing * 2)
        trial.remove(nodes)

    def _taken_back(self, trial: RenewalTrial, nodes: Iterable[int]) -> RenewalTrial:
        """Those of some nodes that are gone taken back in their order, until nobody is loose."""
        for i in nodes:
            if not trial.loose.any():
                break
            if trial.gone[i]:
                self.budget.spend(self.moving)
                trial.restore(i)
                trial.place_loose()
        return trial

    def _swept(self, trial: RenewalTrial, nodes: Sequence[int]) -> RenewalTrial:
        """Each of these nodes gone whose pods all find room as it is."""
        if trial.loose.any():
            return trial
        prospects = Prospects(trial)
        for i in nodes:
            if not prospects.may_gain[i]:
                continue
            if self.budget.over:
                break
            self.budget.spend(4)
            if not prospects.may_fit[i]:
                continue
            self.budget.spend(self.dealing)
            tried = prospects.without(i)
            if tried is not None:
                self.budget.spend(self.copying + self.moving)
                prospects = Prospects(tried)
        return prospects.trial

    def _exchange(self) -> None:
        """Each node that is still there gone for what must be bought then, if that gains."""
        staying = self.field.worth_going * ~self.best.gone
        for i in np.argsort(-staying, kind="stable")[:EXCHANGED].tolist():
            if self.budget.over:
                break
            trial = self.best.copy()
            self._remove(trial, [i])
            trial = bought_for(trial, self.leaning.values, self.budget)
            self._keep(self._swept(trial, self.order[:ASKED]))

    def _changed(self, best: RenewalTrial) -> RenewalTrial:
        """Some come back, something bought is sold, others go; then all is settled."""
        trial, use, waste = best.copy(), self.use, self.leaning.waste
        back, sold, out, buys = self.chance.integers(0, CHANGES).tolist()
        self.budget.spend(self.copying + 60 + (back + 1) * self.moving)
        for i in self._some(trial.gone, back, waste):
            trial.restore(i)
        for column in self.chance.permutation(trial.purchases())[:sold].tolist():
            trial.loose += trial.give_back(column)
        self._remove(trial, self._some(~trial.gone, out, use))
        trial.place_loose()
        if buys:
            trial = bought_for(trial, self.leaning.values, self.budget)
        else:
            trial = self._taken_back(trial, self._some(trial.gone, len(self.order), waste))
        return self._swept(trial, self._some(~trial.gone, ASKED, use))

    def _some(self, of: NDArray[np.bool_], number: int, dislike: NDArray[np.float64]) -> list[int]:
        """So many of these nodes, those that are liked more the likelier, the best liked first."""
        nodes = of.nonzero()[0]
        if not number or not len(nodes):
            return []
        ranks = dislike[nodes].argsort(kind="stable").argsort(kind="stable")
        # Exponential keys: the smallest are a sample without replacement, weighted by likelihood.
        keys = self.chance.exponential(size=len(nodes)) * (3.0 + ranks)
        chosen = nodes[keys.argsort(kind="stable")[:number]]
        best_first: list[int] = chosen[dislike[chosen].argsort(kind="stable")].tolist()
        return best_first


def _rank(trial: RenewalTrial) -> tuple[float, int]:
    """What trials are compared by: the gain; of equal ones the one in which fewer go."""
    return trial.gain, -int(trial.gone.sum())
