"""What a room answers: what to do, what to remember, and when to be asked again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from reconciler.core.actions import Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

Section = TypeVar("Section")
"""A room's part of the ledger; None for a room that remembers nothing."""
NEVER = math.inf
"""No time to wait for: only a change wakes the loop."""


class Decision(msgspec.Struct, Generic[Section], frozen=True, kw_only=True):
    """One room's answer to one World."""

    section: Section
    """The room's part of the ledger from now on."""
    sequences: tuple[Sequence, ...] = ()
    """The most important first: of several about one subject only the first begins."""
    wake_at: float = NEVER
    """The monotonic second at which the room wants to be asked again at the latest."""

    def waking(self, at: float) -> Decision[Section]:
        """The same, asked again at this second at the latest."""
        return msgspec.structs.replace(self, wake_at=min(self.wake_at, at))


def earliest(moments: Iterable[float]) -> float:
    """The first of several moments; NEVER if there is none."""
    return min(moments, default=NEVER)
