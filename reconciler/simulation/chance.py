"""Random numbers from the seed, with one stream for each concern.

If one concern draws more or fewer numbers, the others aren't affected. So a run without faults has
the same arrivals as with faults, and switching off a fault to shrink a failing seed doesn't change
the rest.
"""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T")


class Chance(Random):
    """One stream. It only uses `random()` and `getrandbits()`, which all Python versions share."""

    def __init__(self, seed: int, concern: str) -> None:
        # Text seeds are hashed with SHA-512, independently of PYTHONHASHSEED.
        super().__init__(f"{seed}/{concern}")

    def happens(self, probability: float) -> bool:
        """Whether an event with this probability happens."""
        return self.random() < probability

    def between(self, least: float, most: float) -> float:
        """A uniform number between the two."""
        return least + (most - least) * self.random()

    def whole(self, least: int, most: int) -> int:
        """A uniform integer between the two, both included."""
        return least + int((most - least + 1) * self.random())

    def one_of(self, choices: Sequence[_T]) -> _T:
        """One of several."""
        return choices[int(len(choices) * self.random())]

    def pause(self, mean: float) -> float:
        """The time until the next of many independent events."""
        return -mean * math.log(1.0 - self.random())
