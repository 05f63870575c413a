"""Chance, drawn from the seed: one stream for each concern.

A concern that draws more or less often than before doesn't change what the others draw. So the
fault-free twin of a run has the same arrivals, and a fault that is switched off while a failing
seed is shrunk leaves the rest as it was.
"""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T")


class Chance(Random):
    """One stream. Only `random()` and `getrandbits()` are used below: all Pythons agree on them."""

    def __init__(self, seed: int, concern: str) -> None:
        # Text is seeded by its digest, whatever the seed of Python's own hashes.
        super().__init__(f"{seed}/{concern}")

    def happens(self, probability: float) -> bool:
        """Whether something of this probability is the case."""
        return self.random() < probability

    def between(self, least: float, most: float) -> float:
        """A number between the two, evenly."""
        return least + (most - least) * self.random()

    def whole(self, least: int, most: int) -> int:
        """A whole number from the first to the second, both included."""
        return least + int((most - least + 1) * self.random())

    def one_of(self, choices: Sequence[_T]) -> _T:
        """One of several."""
        return choices[int(len(choices) * self.random())]

    def pause(self, mean: float) -> float:
        """Until the next of many things that have nothing to do with each other."""
        return -mean * math.log(1.0 - self.random())
