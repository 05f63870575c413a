"""Whether one node more can go: what is the same for all that are asked is worked out once.

Nearly all of the nodes that the search asks about can't go, and their answers differ only in where
they are. So the room of a trial is summed up once, for each class when the first node asks for it;
whoever would find too little elsewhere is told so by a comparison, and no copy is made for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reconciler.solver.renewal.trial import RenewalTrial


class Prospects:
    """A trial, and what would become of it without one of the nodes that are there."""

    def __init__(self, trial: RenewalTrial) -> None:
        field = trial.field
        self.trial = trial
        self.first = field.first
        free = np.maximum(trial.free, 0.0)
        everywhere = (free * trial.is_open).sum(axis=1, keepdims=True)
        elsewhere = everywhere - free[:, field.first : len(field.places)]
        may_go = ~trial.gone & (trial.going < field.most)[field.group] & (field.worth_going > 0)
        self.may_gain: list[bool] = may_go.tolist()
        """Whether a node is there whose group lets one more go, and which gains by itself."""
        self.may_fit: list[bool] = (trial.measures.used <= elsewhere).all(axis=0).tolist()
        """Whether all that is free elsewhere, together, is enough for a node's own pods."""
        self._elsewhere: dict[int, NDArray[np.float64]] = {}

    def without(self, i: int) -> RenewalTrial | None:
        """The trial without a node, if all of its pods find room as it is."""
        own = self.first + i
        units = self.trial.field.holds[i] + self.trial.came[:, own]
        order = self.trial.in_order(units)
        # Most fail here, and no copy is made for them.
        if any(self._room_elsewhere(k)[own] < units[k] for k in order):
            return None
        trial = self.trial.copy()
        trial.take_out(i)
        if all(trial.deal(k, int(units[k])) == units[k] for k in order):
            return trial
        return None

    def _room_elsewhere(self, k: int) -> NDArray[np.float64]:
        """For each column how many units of a class the others still take."""
        if k not in self._elsewhere:
            room = self.trial.room(k)
            self._elsewhere[k] = room.sum() - room
        return self._elsewhere[k]
