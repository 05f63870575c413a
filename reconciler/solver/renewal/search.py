"""The search for the nodes to remove: first the most wasteful ones, then by random changes.

One node alone rarely pays for what must be bought for its pods. So different numbers of the most
wasteful nodes are removed together. Each of these trials is completed in two ways: by buying nodes
for the loose pods, and by restoring nodes until no pod is loose. The best trial is then changed at
random (with a fixed seed) in a few places, and any other node that can go is removed too. A change
is kept if it gains more.
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
"""How many different numbers of nodes are tried at first."""
FINALISTS = 2
"""How many of these trials are completed."""
ASKED = 40
"""How many more nodes are tried for removal after a small change."""
EXCHANGED = 24
"""How many of the dearest nodes are tried for an exchange with cheaper ones."""
PATIENCE = 400
"""The search ends after this many changes in a row without a gain; with few nodes it ends earlier,
after `PATIENCE_EACH` changes per node."""
PATIENCE_EACH = 5
CLOSE = 0.0005
"""The search ends when this share of the largest possible gain is missing."""
CHANGES = (8, 3, 5, 2)
"""Exclusive upper limits of the random numbers of a change: nodes to restore, purchases to undo,
nodes to remove, and the way to complete the trial."""


class RenewalSearch:
    """The search with its best trial so far."""

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
        """Ticks to find room for a class; `moving` for the pods of a node, `copying` for a copy."""
        self.moving = 5 + self.dealing * float((field.holds > 0).sum(axis=1).mean())
        self.copying = 15 + 0.0004 * self.best.came.size

    def run(self) -> RenewalTrial:
        """The best trial that the effort finds; it removes no node if none gains."""
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
        """Keep a trial if no pod is loose and it is the best so far; returns whether it is."""
        better = not trial.loose.any() and _rank(trial) > _rank(self.best)
        if better:
            self.best = trial
        return better

    def _beginnings(self) -> Iterator[RenewalTrial]:
        """The empty trial, and the promising numbers of wasteful nodes, completed in both ways."""
        yield RenewalTrial.of(self.measures)
        for trial in self._promising():
            yield self._taken_back(trial.copy(), self.order[::-1])
            yield bought_for(trial, self.leaning.values, self.budget)

    def _promising(self) -> Sequence[RenewalTrial]:
        """Trials without the most wasteful nodes, as many as gain most at the program's prices."""
        hopeful: list[tuple[float, int, RenewalTrial]] = []
        for number in self._numbers():
            if self.budget.over:
                break
            trial = RenewalTrial.of(self.measures)
            self._remove(trial, self.order[:number])
            # What the loose pods will cost isn't known yet; their values are the best estimate.
            worth = trial.gain - float(self.leaning.values.units @ trial.loose)
            hopeful.append((-worth, number, trial))
        return [trial for _, _, trial in sorted(hopeful, key=lambda one: one[:2])[:FINALISTS]]

    def _numbers(self) -> list[int]:
        """Numbers of nodes to try: half of them near what the program suggests."""
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
        """The trial with removed nodes restored in the given order, until no pod is loose."""
        for i in nodes:
            if not trial.loose.any():
                break
            if trial.gone[i]:
                self.budget.spend(self.moving)
                trial.restore(i)
                trial.place_loose()
        return trial

    def _swept(self, trial: RenewalTrial, nodes: Sequence[int]) -> RenewalTrial:
        """The trial without those of the nodes whose pods all find room without a purchase."""
        if trial.loose.any():
            return trial
        prospects = Prospects(trial)
        for i in nodes:
            if not prospects.may_gain[i]:
                continue
            if self.budget.over:
                break
            # Ticks differ by how far a try gets: a comparison, a sum of room, a copy with moves.
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
        """Try to replace each of the dearest remaining nodes by what its pods need."""
        staying = self.field.worth_going * ~self.best.gone
        for i in np.argsort(-staying, kind="stable")[:EXCHANGED].tolist():
            if self.budget.over:
                break
            trial = self.best.copy()
            self._remove(trial, [i])
            trial = bought_for(trial, self.leaning.values, self.budget)
            self._keep(self._swept(trial, self.order[:ASKED]))

    def _changed(self, best: RenewalTrial) -> RenewalTrial:
        """A trial with some random changes, completed again."""
        trial, use, waste = best.copy(), self.use, self.leaning.waste
        back, sold, out, buys = self.chance.integers(0, CHANGES).tolist()
        self.budget.spend(self.copying + 60 + (back + 1) * self.moving)
        for i in self._some(trial.gone, back, waste):
            trial.restore(i)
        for column in self.chance.permutation(trial.purchases())[:sold].tolist():
            trial.loose += trial.give_back(column)
        self._remove(trial, self._some(~trial.gone, out, use))
        trial.place_loose()
        # Both ways end without loose pods, if that is possible at all: buy nodes, or restore some.
        if buys:
            trial = bought_for(trial, self.leaning.values, self.budget)
        else:
            trial = self._taken_back(trial, self._some(trial.gone, len(self.order), waste))
        return self._swept(trial, self._some(~trial.gone, ASKED, use))

    def _some(self, of: NDArray[np.bool_], number: int, dislike: NDArray[np.float64]) -> list[int]:
        """A random choice of nodes, the least disliked first; these are also more likely."""
        nodes = of.nonzero()[0]
        if not number or not len(nodes):
            return []
        ranks = dislike[nodes].argsort(kind="stable").argsort(kind="stable")
        # The smallest of these exponential keys are a weighted sample without replacement.
        keys = self.chance.exponential(size=len(nodes)) * (3.0 + ranks)
        chosen = nodes[keys.argsort(kind="stable")[:number]]
        best_first: list[int] = chosen[dislike[chosen].argsort(kind="stable")].tolist()
        return best_first


def _rank(trial: RenewalTrial) -> tuple[float, int]:
    """How trials are compared: by gain, then by fewer removed nodes."""
    return trial.gain, -int(trial.gone.sum())
