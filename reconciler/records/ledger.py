"""What the room of records remembers between two passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_WAIT: Final = 10.0
LONGEST_WAIT: Final = 3600.0


class WrittenBack(NamedTuple):
    """How often growth has written back what somebody changed on a Node, and when last."""

    times: int
    at: float
    """In monotonic seconds."""

    @property
    def next_at(self) -> float:
        """When it may be written back again; each time later than the time before."""
        return self.at + min(FIRST_WAIT * 2.0 ** min(self.times - 1, 16), LONGEST_WAIT)

    @property
    def forgotten_at(self) -> float:
        """When a change counts as the first one again."""
        return self.next_at + LONGEST_WAIT


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordsLedger:
    """Memory, by the name of the machine."""

    written_back: Mapping[str, WrittenBack] = field(default_factory=dict)
