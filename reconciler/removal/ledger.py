"""What removal remembers between two passes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.providers.port import ClassKey


@dataclass(frozen=True, kw_only=True, slots=True)
class RemovalLedger:
    """Memory that is rebuilt from objects after a restart."""

    unseen: float = 0.0
    """Seconds without a leader before this memory began: they don't count for any wait."""
    seen: float = 0.0
    """Total seconds in which growth saw everything: the clock of every wait here."""
    looked_at: float | None = None
    """The monotonic second of the last pass that saw everything; None after one that didn't."""
    orphans: Mapping[str, float] = field(default_factory=dict)
    """Since when each orphan is known to be one, on that clock, by name."""
    ends: Mapping[str, float] = field(default_factory=dict)
    """When marked nodes go, on that clock, by name."""
    crowds: Mapping[ClassKey, int] = field(default_factory=dict)
    """How many orphans a cloud has, if that is too many to be believed; otherwise 0."""
    others: Mapping[ClassKey, tuple[str, ...]] = field(default_factory=dict)
    """The orphans of a cloud by which another writer is known, by name."""
    began: datetime | None = None
    """The last moment before this memory at which some process led."""
    requested: Mapping[str, None] = field(default_factory=dict)
    """The uids of requests that were seen, the oldest first."""

    def at(self, clock: SightedClock) -> RemovalLedger:
        """The memory with the clock as it is shown now."""
        looked_at = clock.monotonic if clock.runs else None
        return replace(self, seen=clock.now, looked_at=looked_at)
