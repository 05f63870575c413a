"""Everything that the rules of a fleet know at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from growth.errors import WorldUnseen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fleet.core.clusters import FleetCluster, FleetRegion
    from fleet.core.provider import ClusterSight
    from fleet.core.report import AgentReport


class FleetUnseen(WorldUnseen):
    """Not all clusters are known, so nothing can be decided."""


@dataclass(frozen=True, kw_only=True)
class FleetWorld:
    """All regions and clusters, and what providers and agents say of them."""

    regions: tuple[FleetRegion, ...]
    clusters: tuple[FleetCluster, ...] | None
    """All records. None: they couldn't be read completely."""
    sights: Mapping[str, ClusterSight] = field(default_factory=dict)
    """Clusters at their providers, by name."""
    reports: Mapping[str, AgentReport] = field(default_factory=dict)
    """Reports that came since the last pass, by the cluster's name. Each is judged once."""
    agents_report: bool = True
    """Whether clusters have agents that report; without them, one that is there is ready."""

    def known_clusters(self) -> tuple[FleetCluster, ...]:
        """All records, if they are known."""
        if self.clusters is None:
            raise FleetUnseen("not all clusters of the fleet could be read")
        return self.clusters
