"""How much of what instances use: connections and partitions, as whole numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CapacityAmounts:
    """An amount of each attribute that decides about capacity."""

    connections: int
    partitions: int

    def covers(self, other: CapacityAmounts) -> bool:
        """Whether there is at least as much of everything."""
        return self.connections >= other.connections and self.partitions >= other.partitions

    def exceeds(self, other: CapacityAmounts) -> bool:
        """Whether there is more of everything."""
        return self.connections > other.connections and self.partitions > other.partitions
