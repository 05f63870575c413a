"""Carries out actions at the API server of a management cluster.

A record is written before its cluster is asked for, and a cluster is marked as asked to go before
it is deleted: whatever is lost in between, the next pass goes on from what is written. Each write
names the version that it was decided on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never

from fleet.capi.objects import ACCOUNTS, CLUSTERS, RECORD_LABEL
from fleet.capi.writing import cluster_body
from fleet.clusters.deleting import may_be_deleted
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
from fleet.core.clusters import RegionKey
from fleet.seeing.picture import member_of, owned_rows
from fleet.seeing.sources import FLEETS, RECORDS
from fleet.serving.accounts import ACCOUNT_PREFIX
from growth.api.clusterrecord import ClusterRecord
from growth.api.wellknown import GROUP_VERSION
from growth.errors import DecideAgain, GiveUp
from growth.kube.cache.resource import Key
from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.writes import Decided, Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from fleet.capi.objects import CapiCluster
    from fleet.core.actions import FleetAction
    from fleet.core.clusters import FleetCluster
    from fleet.seeing.picture import OwnedRow
    from fleet.seeing.sources import FleetSources
    from fleet.serving.inbox import ReportInbox
    from growth.kube.transport import Connection

FINALIZER: Final = "growth.dev/cluster-cleanup"


class Stranger(GiveUp):
    """A Cluster of this name belongs to somebody else."""


class Hands:
    """Writes records, Clusters and accounts of agents."""

    def __init__(
        self,
        connection: Connection,
        *,
        sources: FleetSources,
        inbox: ReportInbox,
        namespace: str,
        now: Callable[[], datetime],
        may_write: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._sources = sources
        self._inbox = inbox
        self._namespace = namespace
        self._now = now
        self._may_write = may_write
        own = {name: sources.store(name).own for name in (RECORDS, CLUSTERS, ACCOUNTS)}
        path = ClusterRecord.collection()
        self._records = Writes(connection, path=path, noted=own[RECORDS])
        self._clusters = Writes(connection, path=CLUSTERS, noted=own[CLUSTERS])
        self._accounts = Writes(connection, path=ACCOUNTS, noted=own[ACCOUNTS])
        self._decided: dict[str, Decided] = {}
        """Records as they are after our last write in this pass."""

    def begin(self) -> None:
        """Begin a pass: what is decided is decided on the caches of now."""
        self._decided = {
            each.name: Decided.on(each) for each in self._sources.objects(RECORDS).values()
        }

    async def do(self, action: FleetAction) -> None:  # noqa: C901 - one line for each action
        """Carry out one action."""
        self._may_write()
        match action:
            case CreateRecord(record=record):
                await self._create_record(record)
            case SetState(name=name, state=state):
                await self._status(name, state=state.value, since=_written(self._now()))
            case CreateCluster(name=name):
                await self._create_cluster(name)
            case Equip(name=name):
                await self._equip(name)
            case SetNodes(name=name, nodes=nodes):
                await self._set_nodes(name, nodes)
            case DeleteCluster(name=name):
                await self._delete_cluster(name)
            case SoftDelete(name=name):
                await self._status(name, softDeleted=True)
            case RemoveIdentity():
                # Agents have accounts of the management cluster, and no client elsewhere.
                pass
            case RemoveAgentAccount(name=name):
                await self._remove_account(name)
            case DropRecord(name=name):
                await self._drop(name)
            case _:
                assert_never(action)

    async def _create_record(self, cluster: FleetCluster) -> None:
        owned = self._rows().get(cluster.key)
        if owned is None:
            raise DecideAgain("its region has been removed")
        spec = {
            "fleet": owned.fleet.name,
            "provider": cluster.key.provider,
            "region": cluster.key.region,
            "multiAZ": cluster.multi_az,
        }
        metadata = {"name": cluster.name, "finalizers": [FINALIZER]}
        body = {"apiVersion": GROUP_VERSION, "kind": "ClusterRecord", "metadata": metadata}
        await self._records.create({**body, "spec": spec})

    async def _status(self, name: str, **fields: Any) -> None:
        decided = self._decided[name]
        patch = {"status": fields}
        self._decided[name] = await self._records.merge(decided, patch, subresource="status")

    async def _create_cluster(self, name: str) -> None:
        record = self._record(name)
        owned = self._row_of(record)
        namespace = owned.fleet.spec.namespace
        body = cluster_body(record, owned.row, namespace=namespace, nodes=owned.row.nodes)
        try:
            await self._clusters.create(body)
        except AlreadyExists:
            await self._adopt(record, Key(namespace, name))

    async def _adopt(self, record: ClusterRecord, key: Key) -> None:
        """Take a cluster for ours that an earlier request has created."""
        found = await self._found(key)
        metadata = {} if found is None else found["metadata"]
        if metadata.get("deletionTimestamp"):
            raise DecideAgain(
                f"Cluster {key.name}: another one of this name is still being deleted"
            )
        if metadata.get("labels", {}).get(RECORD_LABEL) != record.metadata.uid:
            raise Stranger(f"Cluster {key.namespace}/{key.name} isn't the one of this record")
        await self._clusters.adopt(key)

    async def _equip(self, name: str) -> None:
        record = self._record(name)
        metadata = {
            "name": f"{ACCOUNT_PREFIX}{name}",
            "namespace": self._namespace,
            "labels": {RECORD_LABEL: record.metadata.uid},
        }
        try:
            await self._accounts.create(
                {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
            )
        except AlreadyExists:
            await self._accounts.adopt(Key(self._namespace, f"{ACCOUNT_PREFIX}{name}"))

    async def _set_nodes(self, name: str, nodes: int) -> None:
        record, cluster = self._record(name), self._cluster(name)
        owned = self._row_of(record)
        namespace = owned.fleet.spec.namespace
        body = cluster_body(record, owned.row, namespace=namespace, nodes=nodes)
        # Where the classes of a fleet have changed, clusters keep theirs until people change them.
        await self._clusters.apply(Decided.on(cluster), body)

    async def _delete_cluster(self, name: str) -> None:
        await self._look_again(name)
        if not self._record(name).status.asked_to_go:
            await self._status(name, askedToGo=True)
        known = self._known_cluster(name)
        if known is None:
            return
        key = Key(known.metadata.namespace, name)
        found = await self._found(key)
        if found is None or found["metadata"]["uid"] != known.metadata.uid:
            return
        # Its status changes often, and only who it is counts: so the newest version is named.
        version = found["metadata"]["resourceVersion"]
        await self._clusters.delete(Decided(key, known.metadata.uid, version))

    async def _look_again(self, name: str) -> None:
        """Read what a deletion depends on from the API server, and not from a cache."""
        answer = await self._connection.request("GET", ClusterRecord.collection())
        records = [ClusterRecord.model_validate(each) for each in answer.json()["items"]]
        fresh = [member_of(each, self._inbox) for each in records]
        own = next((each for each in fresh if each.name == name), None)
        if own is None or not may_be_deleted(own, fresh):
            raise DecideAgain(f"{name}: the cluster or its siblings have changed")

    async def _remove_account(self, name: str) -> None:
        path = f"/api/v1/namespaces/{self._namespace}/serviceaccounts/{ACCOUNT_PREFIX}{name}"
        try:
            await self._connection.request("DELETE", path)
        except NotFound:
            return

    async def _drop(self, name: str) -> None:
        decided = self._decided[name]
        metadata = self._record(name).metadata
        others = [each for each in metadata.finalizers if each != FINALIZER]
        freed = await self._records.merge(decided, {"metadata": {"finalizers": others}})
        if metadata.deletion_timestamp is None:
            await self._records.delete(freed)

    async def _found(self, key: Key) -> dict[str, Any] | None:
        group, _, plural = CLUSTERS.rpartition("/")
        path = f"{group}/namespaces/{key.namespace}/{plural}/{key.name}"
        try:
            answer = await self._connection.request("GET", path)
        except NotFound:
            return None
        found: dict[str, Any] = answer.json()
        return found

    def _rows(self) -> Mapping[RegionKey, OwnedRow]:
        return owned_rows(self._sources.objects(FLEETS).values())

    def _row_of(self, record: ClusterRecord) -> OwnedRow:
        owned = self._rows().get(RegionKey(record.spec.provider, record.spec.region))
        if owned is None:
            raise GiveUp(f"{record.name}: no ClusterFleet has its region any more")
        return owned

    def _record(self, name: str) -> ClusterRecord:
        found: ClusterRecord | None = self._sources.store(RECORDS).get(name)
        if found is None:
            raise DecideAgain(f"{name}: its record is gone")
        return found

    def _cluster(self, name: str) -> CapiCluster:
        found = self._known_cluster(name)
        if found is None:
            raise DecideAgain(f"{name}: its Cluster is gone")
        return found

    def _known_cluster(self, name: str) -> CapiCluster | None:
        uid = self._record(name).metadata.uid
        clusters = self._sources.objects(CLUSTERS).values()
        own = (each for each in clusters if each.metadata.labels.get(RECORD_LABEL) == uid)
        return next(own, None)


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
