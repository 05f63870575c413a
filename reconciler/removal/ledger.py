"""What removal remembers between two passes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class RemovalLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Memory that is rebuilt from objects after a restart."""

    unseen: float = 0.0
    """Seconds in which nobody led before this memory began: no wait has gone on in them."""
    seen: float = 0.0
    """Seconds in which everything was seen, all together: the clock of every wait here."""
    looked_at: float | None = None
    """The monotonic second of the last pass that saw everything; None after one that didn't."""
    orphans: Mapping[str, float] = {}
    """Since when machines that nobody knows are known as such, on that clock, by name."""
    ends: Mapping[str, float] = {}
    """When marked nodes go, on that clock, by name."""
