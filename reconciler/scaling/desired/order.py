"""In which order nodes go: not ready, oldest, least used.

The order is total. Of nodes that are alike in all of that, the one whose removal disturbs least
goes first, and then the first by name.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN_USE = Fraction(10**6)
"""In percent; a node whose use isn't known goes after all others."""
PER_POD, PER_SYSTEM_POD, PER_PERCENT = 100, 500, 10


def disturbance(use: Fraction, *, pods: int, system_pods: int) -> int:
    """What the removal of a node disturbs: its load, its pods, and above all those of the system.

    `pods` also counts the system's.
    """
    return int(use * PER_PERCENT) + PER_POD * pods + PER_SYSTEM_POD * system_pods


class DrainCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A node that might go."""

    name: str
    is_ready: bool
    born: float
    """When it was created, in seconds."""
    use: Fraction | None = None
    """In percent; None if it isn't known."""
    disturbs: int = 0

    @property
    def rank(self) -> tuple[bool, float, Fraction, int, str]:
        """Its place in the order."""
        use = UNKNOWN_USE if self.use is None else self.use
        return self.is_ready, self.born, use, self.disturbs, self.name


def first_to_go(candidates: Iterable[DrainCandidate], count: int) -> tuple[DrainCandidate, ...]:
    """So many of the nodes, in their order."""
    ordered = sorted(candidates, key=lambda each: each.rank)
    return tuple(ordered[: max(count, 0)])
