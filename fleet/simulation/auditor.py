"""Sees the truth at the moment of each write, and notes what must never happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.core.states import WITHOUT_PROSPECT, ClusterState
from fleet.nodes.bounds import ZONES
from fleet.simulation.clusters import CEILING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fleet.core.clusters import FleetCluster
    from fleet.simulation.clusters import RealCluster


class FleetAuditor:
    """The breaches of one story."""

    def __init__(self) -> None:
        self.breaches: list[str] = []

    def creates(self, record: FleetCluster, records: Iterable[FleetCluster]) -> None:
        """A record comes: no other cluster of its region may have a prospect of room."""
        for each in records:
            is_same = each.key == record.key and not each.is_soft_deleted
            if is_same and each.state not in WITHOUT_PROSPECT:
                self._note(f"{record.name} comes, but {each.name} is {each.state}")

    def builds(self, record: FleetCluster) -> None:
        """A cluster comes: it has a record that says so."""
        if record.state not in {ClusterState.ACCEPTED, ClusterState.PROVISIONING}:
            self._note(f"{record.name} is built although it is {record.state}")

    def scales(self, real: RealCluster, nodes: int) -> None:
        """Nodes come or go: one step, within bounds, and only if no other is under way."""
        if real.existing != real.wanted:
            self._note(f"{real.name} is scaled to {nodes} in the middle of a step")
        if abs(nodes - real.existing) != ZONES or not ZONES <= nodes <= CEILING:
            self._note(f"{real.name} is scaled from {real.existing} to {nodes}")
        if nodes < real.fewest:
            self._note(f"{real.name} is scaled to {nodes}, but needs {real.fewest}")

    def deletes(
        self, record: FleetCluster, records: Iterable[FleetCluster], real: RealCluster
    ) -> None:
        """A cluster goes: empty, chosen, and with a ready sibling, unless a person deletes it."""
        if record.is_deleted_by_hand:
            return
        if real.instances:
            self._note(f"{record.name} is deleted with {real.instances} instances")
        if record.state is not ClusterState.DEPROVISIONING:
            self._note(f"{record.name} is deleted although it is {record.state}")
        if not any(each.is_ready_sibling_of(record) for each in records):
            self._note(f"{record.name} is deleted without a ready sibling")

    def drops(self, record: FleetCluster, real: Mapping[str, RealCluster]) -> None:
        """A record goes: nothing of its cluster may be left."""
        if record.name in real:
            self._note(f"the record of {record.name} goes before its cluster")

    def ends(
        self,
        records: Mapping[str, FleetCluster],
        real: Mapping[str, RealCluster],
        *,
        waiting: Mapping[str, int],
    ) -> None:
        """The story ends after a quiet time: nothing is lost, left over or waiting."""
        for name in sorted(set(real) - set(records)):
            self._note(f"{name} is lost: it has no record")
        for name, record in sorted(records.items()):
            if name not in real and record.state is not ClusterState.FAILED:
                self._note(f"{name} is {record.state} and has no cluster")
            if record.state in {ClusterState.ACCEPTED, ClusterState.DEPROVISIONING}:
                self._note(f"{name} is still {record.state}")
        for region, count in sorted(waiting.items()):
            if count and not _has_hope(region, records.values()):
                self._note(f"{count} instances wait in {region}, and nothing happens there")

    def _note(self, text: str) -> None:
        self.breaches.append(text)


def _has_hope(region: str, records: Iterable[FleetCluster]) -> bool:
    """Whether room comes by itself; after several failures a region waits for up to a day."""
    own = [each for each in records if each.key.region == region]
    failed = sum(each.state is ClusterState.FAILED for each in own)
    return failed > 1 or any(each.state not in WITHOUT_PROSPECT for each in own)
