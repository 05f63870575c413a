"""The API server and the providers of a simulated fleet: the truth, and who changes it how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleet.core.actions import (
    CreateCluster,
    CreateRecord,
    DeleteCluster,
    DropRecord,
    Equip,
    RemoveAgentAccount,
    RemoveIdentity,
    SetNodes,
    SetState,
    SoftDelete,
)
from fleet.simulation.clusters import RealCluster
from growth.errors import DecideAgain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from random import Random

    from fleet.core.actions import FleetAction
    from fleet.core.clusters import FleetCluster
    from fleet.core.states import ClusterState
    from fleet.simulation.auditor import FleetAuditor


@dataclass(frozen=True)
class StoredRecord:
    """A record with what the API server adds."""

    record: FleetCluster
    uid: int
    version: int = 0


class FleetServer:
    """Records and clusters. A write on an old version is refused, as a real server does."""

    def __init__(self, chance: Random, auditor: FleetAuditor) -> None:
        self._chance = chance
        self._auditor = auditor
        self._uids = 0
        self.records: dict[str, StoredRecord] = {}
        self.real: dict[str, RealCluster] = {}
        self.fails_always: set[str] = set()
        """Regions in which each new cluster fails."""

    def apply(
        self, action: FleetAction, *, versions: Mapping[str, tuple[int, int]], now: datetime
    ) -> None:
        """Do what an action says, if it was decided on what is there."""
        match action:
            case CreateRecord(record=record):
                self._create_record(record)
            case SetState(name=name, state=state):
                self._write(name, versions, state=state, since=now)
            case CreateCluster(name=name):
                self._create_cluster(name)
            case Equip(name=name):
                self._real(name).is_equipped = True
            case SetNodes(name=name, nodes=nodes):
                self._set_nodes(name, nodes, versions)
            case DeleteCluster(name=name):
                self._delete_cluster(name)
            case SoftDelete(name=name):
                self._change(name, is_soft_deleted=True)
            case RemoveIdentity() | RemoveAgentAccount():
                pass
            case DropRecord(name=name):
                self._auditor.drops(self._stored(name).record, self.real)
                del self.records[name]

    def _create_record(self, record: FleetCluster) -> None:
        if record.name in self.records:
            raise DecideAgain("a record of this name exists")
        self._auditor.creates(record, [each.record for each in self.records.values()])
        self._uids += 1
        self.records[record.name] = StoredRecord(record, self._uids)

    def _create_cluster(self, name: str) -> None:
        stored = self._stored(name)
        found = self.real.get(name)
        if found is not None:
            if found.record_uid != stored.uid or found.is_deleting:
                raise DecideAgain("another cluster of this name is still there")
            return
        self._auditor.builds(stored.record)
        self.real[name] = RealCluster(
            name=name,
            record_uid=stored.uid,
            ready_in=self._chance.randint(10, 40),
            fails=stored.record.key.region in self.fails_always or self._chance.random() < 0.03,
        )

    def _set_nodes(self, name: str, nodes: int, versions: Mapping[str, tuple[int, int]]) -> None:
        real = self._real(name)
        if versions[name][1] != real.version:
            raise DecideAgain("the cluster has changed")
        self._auditor.scales(real, nodes)
        real.wanted = nodes
        real.version += 1

    def _delete_cluster(self, name: str) -> None:
        stored, real = self._stored(name), self.real.get(name)
        if real is not None and not real.is_deleting:
            others = [each.record for each in self.records.values()]
            self._auditor.deletes(stored.record, others, real)
            real.is_deleting = True
            real.leaves_in = self._chance.randint(3, 30)
        self._change(name, is_asked_to_go=True)

    def _stored(self, name: str) -> StoredRecord:
        if name not in self.records:
            raise DecideAgain("its record is gone")
        return self.records[name]

    def _real(self, name: str) -> RealCluster:
        if name not in self.real:
            raise DecideAgain("the cluster isn't there")
        return self.real[name]

    def _write(
        self,
        name: str,
        versions: Mapping[str, tuple[int, int]],
        *,
        state: ClusterState,
        since: datetime,
    ) -> None:
        if self._stored(name).version != versions[name][0]:
            raise DecideAgain("the record has changed")
        self._change(name, state=state, since=since)

    def _change(self, name: str, **changes: object) -> None:
        stored = self._stored(name)
        record = replace(stored.record, **changes)  # type: ignore[arg-type]
        self.records[name] = replace(stored, record=record, version=stored.version + 1)

    def delete_by_hand(self, name: str) -> None:
        """A person deletes a record."""
        self._change(name, is_deleted_by_hand=True)

    def tick(self) -> None:
        """Let one tick pass for all clusters."""
        for name, real in list(self.real.items()):
            real.tick()
            if real.is_deleting and real.leaves_in <= 0:
                del self.real[name]
