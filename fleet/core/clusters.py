"""Clusters of a fleet and the regions that they are in, as the rules see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from fleet.core.states import ClusterState

if TYPE_CHECKING:
    from datetime import datetime

    from fleet.core.amounts import CapacityAmounts


SETTLING: Final = timedelta(minutes=1)
"""How long after a change of state a report may still tell of the time before it."""


@dataclass(frozen=True, order=True)
class RegionKey:
    """A region of a provider. Clusters are siblings if they have the same one."""

    provider: str
    region: str


@dataclass(frozen=True, kw_only=True)
class FleetRegion:
    """One row of a fleet: what clusters of a region are like, and how many there may be."""

    key: RegionKey
    model_t: CapacityAmounts
    """What one instance needs."""
    scales: bool = True
    """Whether the fleet adds and removes nodes and clusters by itself."""
    most: int | None = None
    """How many clusters there may be. None: as many as are needed."""
    provisioning_deadline: timedelta = timedelta(hours=2)
    """How long a cluster may take until it is there. After that it has failed."""


@dataclass(frozen=True, kw_only=True)
class FleetCluster:
    """What the fleet knows of one cluster. It is written before anything is done."""

    name: str
    key: RegionKey
    state: ClusterState
    since: datetime
    """When it came into its state."""
    multi_az: bool = True
    instances: int | None = None
    """How many instances run in it. None: not known, or not lately."""
    counted_at: datetime | None = None
    """When its agent counted them."""
    is_asked_to_go: bool = False
    """Whether its deletion was asked for at the provider, which can't be taken back."""
    is_soft_deleted: bool = False
    """Whether it counts as gone. It may take its provider a while until it really is."""
    is_deleted_by_hand: bool = False
    """Whether a person deletes it, whatever its siblings are."""

    def is_ready_sibling_of(self, other: FleetCluster) -> bool:
        """Whether it can take what the other one would have taken."""
        is_sibling = self.name != other.name and self.key == other.key
        return is_sibling and self.state is ClusterState.READY and not self.is_leaving

    @property
    def is_empty(self) -> bool:
        """Whether it certainly has no instance, even if some came just before its state changed."""
        if self.instances != 0 or self.counted_at is None:
            return False
        return self.counted_at >= self.since + SETTLING

    @property
    def is_leaving(self) -> bool:
        """Whether nothing can keep it any more."""
        return self.is_asked_to_go or self.is_soft_deleted or self.is_deleted_by_hand
