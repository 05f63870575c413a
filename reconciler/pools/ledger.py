"""What the room of pools remembers between two passes."""

from __future__ import annotations

from dataclasses import dataclass

from growth.keeping.occupants import NO_OCCUPANTS, Occupants


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolsLedger:
    """The last time that the machines of pools were counted."""

    counted_at: float | None = None
    """The time in monotonic seconds."""
    occupants: Occupants = NO_OCCUPANTS
    """Why nodes stay for their pods, so that only what has changed is asked again."""
