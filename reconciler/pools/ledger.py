"""What the room of pools remembers between two passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.keeping.occupants import NO_OCCUPANTS, Occupants

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_WAIT: Final = 10.0
"""Seconds for which a reason has to last before it is written: at most six writes a minute for a
machine, and none for pods that only come and go."""
LONGEST_WAIT: Final = 3600.0


class Unrecorded(NamedTuple):
    """Why a node is kept, which the record of its machine doesn't say yet."""

    reason: str | None
    """None if there is no node."""
    next_at: float
    """When it is written, in monotonic seconds."""
    tries: int = 0

    def tried(self, now: float) -> Unrecorded:
        """After a write; if that has no effect, the next one waits twice as long."""
        wait = min(FIRST_WAIT * 2.0 ** min(self.tries, 16), LONGEST_WAIT)
        return self._replace(next_at=now + wait, tries=self.tries + 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolsLedger:
    """The last time that the machines of pools were counted."""

    counted_at: float | None = None
    """The time in monotonic seconds."""
    occupants: Occupants = NO_OCCUPANTS
    """Why nodes stay for their pods, so that only what has changed is asked again."""
    unrecorded: Mapping[str, Unrecorded] = field(default_factory=dict)
    """What is to be written into records, by the name of the machine."""
