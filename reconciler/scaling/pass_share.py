"""How much the policies of pools look at in one pass, so that a pass stays short.

In the first pass of a leader, all pools are due, and what each pod requests hasn't been added up
yet. Pools that get no turn in a pass get one in the next, which follows at once; until then, their
last decisions stand.
"""

from __future__ import annotations

from typing import Final

MOST: Final = 4_000
"""Nodes, and pods that are counted for the first time; each takes about ten microseconds."""


class PassShare:
    """What is left of one pass."""

    def __init__(self, most: int = MOST) -> None:
        self._left = self._most = most

    def takes(self, work: int) -> bool:
        """Whether so much fits into this pass, which it then takes; the first always does."""
        if work > self._left and self._left < self._most:
            return False
        # Work that is next to nothing counts, too, so that the order of pools doesn't matter.
        self._left -= max(work, 1)
        return True
