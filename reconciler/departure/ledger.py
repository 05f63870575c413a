"""What is remembered of the pods that have their cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.occupancy import Occupancy


@dataclass(frozen=True, kw_only=True, slots=True)
class DepartureLedger:
    """Memory, by the name of the node."""

    looked_at: float | None = None
    """In monotonic seconds."""
    settled: Mapping[str, Occupancy] = field(default_factory=dict)
    """The pods of a node when all of them had their cost."""
