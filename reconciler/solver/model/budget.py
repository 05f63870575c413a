"""How long a search may run: counted work decides, and the clock is only a safety net.

A tick is about a microsecond of work on the machine where the stages were measured. Each stage
counts its work from the sizes of its arrays and never from the time that it took. So the same
problem stops at the same point on any machine, and the plan is the same to the bit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Budget:
    """Ticks to spend, and the time at which the search ends whatever was counted."""

    ticks: int
    deadline: float
    clock: Callable[[], float] = time.monotonic
    spent: int = 0
    clock_fired: bool = False
    _parent: Budget | None = field(default=None, repr=False)

    def spend(self, ticks: float) -> None:
        """Count finished work."""
        self.spent += int(ticks)
        if self._parent is not None:
            self._parent.spend(ticks)

    @property
    def left(self) -> int:
        """Ticks that are left, here and in the budget that this one is a part of."""
        own = self.ticks - self.spent
        return own if self._parent is None else min(own, self._parent.left)

    @property
    def over(self) -> bool:
        """Whether the search must end, by ticks or by the clock."""
        return self.left <= 0 or self.late

    @property
    def late(self) -> bool:
        """Whether the safety clock has fired."""
        # The whole search has to know that the clock ended it, because the plan says so. A part is
        # dropped with what it has seen.
        if self._parent is not None:
            return self._parent.late
        self.clock_fired = self.clock_fired or self.clock() > self.deadline
        return self.clock_fired

    @property
    def seconds_left(self) -> float:
        """The time until the deadline, for an engine that can't count in ticks alone."""
        return max(0.0, self.deadline - self.clock())

    def part(self, share: float) -> Budget:
        """A budget for one stage: a share of what is left, and counted here too."""
        return Budget(int(self.left * share), self.deadline, self.clock, _parent=self)
