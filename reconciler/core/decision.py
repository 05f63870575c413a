"""What a room answers: what to do, what to remember, and when to be asked again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from reconciler.core.actions import Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

NEVER = math.inf
"""Nothing to wait for: only a change wakes the loop."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One room's answer to one World."""

    section: msgspec.Struct | None = None
    """The room's part of the ledger from now on; None for rooms that remember nothing."""
    sequences: tuple[Sequence, ...] = ()
    wake_at: float = NEVER
    """The monotonic second at which the room wants to be asked again at the latest."""


def earliest(moments: Iterable[float]) -> float:
    """The first of several moments; NEVER if there is none."""
    return min(moments, default=NEVER)
