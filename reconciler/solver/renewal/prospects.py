"""Whether one more node can be removed from a trial; what is the same for all nodes is cached.

Most nodes that the search tries can't be removed, because there is too little room elsewhere. So
the free room of a trial is summed up once per class, when it is first needed. A comparison then
rules out most nodes without a copy of the trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.renewal.trial import RenewalTrial


class Prospects:
    """A trial, and the trials that would follow from removing one more node."""

    def __init__(self, trial: RenewalTrial) -> None:
        field = trial.field
        self.trial = trial
        self.first = field.first
        free = np.maximum(trial.free, 0.0)
        everywhere = (free * trial.is_open).sum(axis=1, keepdims=True)
        elsewhere = everywhere - free[:, field.first : len(field.places)]
        # Both tests are necessary but not sufficient; they cost one comparison per node.
        may_go = ~trial.gone & (trial.going < field.most)[field.group] & (field.worth_going > 0)
        self.may_gain: list[bool] = may_go.tolist()
        """Whether each node is still there, may be removed, and gains something."""
        self.may_fit: list[bool] = (trial.measures.used <= elsewhere).all(axis=0).tolist()
        """Whether the total free room elsewhere is enough for each node's own pods."""
        self._elsewhere: dict[int, NDArray[np.float64]] = {}

    def without(self, i: int) -> RenewalTrial | None:
        """The trial without a node, if all of its pods find room without a purchase."""
        own = self.first + i
        # Pods that moved to this node earlier must move again.
        units = self.trial.field.holds[i] + self.trial.came[:, own]
        order = self.trial.in_order(units)
        # Most nodes fail here, before the trial is copied.
        if any(self._room_elsewhere(k)[own] < units[k] for k in order):
            return None
        trial = self.trial.copy()
        trial.take_out(i)
        if all(trial.deal(k, int(units[k])) == units[k] for k in order):
            return trial
        return None

    def _room_elsewhere(self, k: int) -> NDArray[np.float64]:
        """For each column, how many units of a class the other columns can take."""
        if k not in self._elsewhere:
            room = self.trial.room(k)
            self._elsewhere[k] = room.sum() - room
        return self._elsewhere[k]
