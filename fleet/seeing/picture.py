"""From objects to the world that the rules decide on."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fleet.capi.objects import ACCOUNTS, CLUSTERS, DEPLOYMENTS, MACHINES, RECORD_LABEL
from fleet.capi.reading import cluster_name_of, sight_of
from fleet.core.amounts import CapacityAmounts
from fleet.core.clusters import FleetCluster, FleetRegion, RegionKey
from fleet.core.world import FleetWorld
from fleet.seeing.sources import FLEETS, RECORDS
from growth.api.clusterfleet import RegionScaling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fleet.capi.objects import CapiCluster, CapiDeployment, CapiMachine
    from fleet.core.provider import ClusterSight
    from fleet.core.report import AgentReport
    from fleet.seeing.sources import FleetSources
    from fleet.serving.inbox import ReportInbox
    from growth.api.clusterfleet import ClusterFleet, FleetRow
    from growth.api.clusterrecord import ClusterRecord


@dataclass(frozen=True)
class OwnedRow:
    """A region, and the fleet that it belongs to."""

    fleet: ClusterFleet
    row: FleetRow


def owned_rows(fleets: Iterable[ClusterFleet]) -> dict[RegionKey, OwnedRow]:
    """The regions of all fleets. One that several have belongs to the first."""
    rows: dict[RegionKey, OwnedRow] = {}
    for fleet in sorted(fleets, key=lambda each: each.name):
        for row in fleet.spec.regions:
            rows.setdefault(RegionKey(row.provider, row.region), OwnedRow(fleet, row))
    return rows


def region_of(key: RegionKey, owned: OwnedRow) -> FleetRegion:
    """A region, as the rules see it."""
    model_t = owned.fleet.spec.model_t
    return FleetRegion(
        key=key,
        model_t=CapacityAmounts(connections=model_t.connections, partitions=model_t.partitions),
        scales=owned.row.scaling is RegionScaling.AUTOMATIC,
        most=owned.row.most,
        provisioning_deadline=owned.fleet.spec.provisioning_deadline.timedelta,
    )


def member_of(record: ClusterRecord, inbox: ReportInbox) -> FleetCluster:
    """A cluster, as the rules see it."""
    status, metadata = record.status, record.metadata
    since = status.since or metadata.creation_timestamp
    if since is None:
        raise AssertionError("the API server gives each object a time")
    count = inbox.count_of(record.name)
    return FleetCluster(
        name=record.name,
        key=RegionKey(record.spec.provider, record.spec.region),
        state=status.state,
        since=since,
        multi_az=record.spec.multi_az,
        instances=count.instances,
        counted_at=count.at,
        is_asked_to_go=status.asked_to_go,
        is_soft_deleted=status.soft_deleted,
        is_deleted_by_hand=metadata.deletion_timestamp is not None,
    )


def picture_of(
    sources: FleetSources, inbox: ReportInbox, *, reports: Mapping[str, AgentReport]
) -> FleetWorld:
    """The world of this moment."""
    records: list[ClusterRecord] = list(sources.objects(RECORDS).values())
    rows = owned_rows(sources.objects(FLEETS).values())
    return FleetWorld(
        regions=tuple(region_of(key, owned) for key, owned in sorted(rows.items(), key=_by_key)),
        clusters=tuple(member_of(each, inbox) for each in sorted(records, key=_by_name)),
        sights=_sights(records, sources),
        reports=reports,
    )


def _sights(records: list[ClusterRecord], sources: FleetSources) -> dict[str, ClusterSight]:
    deployments: dict[str, list[CapiDeployment]] = defaultdict(list)
    machines: dict[str, list[CapiMachine]] = defaultdict(list)
    for deployment in sources.objects(DEPLOYMENTS).values():
        deployments[cluster_name_of(deployment)].append(deployment)
    for machine in sources.objects(MACHINES).values():
        machines[cluster_name_of(machine)].append(machine)
    accounts = {each.metadata.labels[RECORD_LABEL] for each in sources.objects(ACCOUNTS).values()}
    uids = {each.metadata.uid: each.name for each in records}
    return {
        name: sight_of(
            cluster, deployments[name], machines[name], is_equipped=_uid(cluster) in accounts
        )
        for cluster in sources.objects(CLUSTERS).values()
        if (name := uids.get(_uid(cluster), "")) and name == cluster.metadata.name
    }


def _uid(cluster: CapiCluster) -> str:
    return cluster.metadata.labels.get(RECORD_LABEL, "")


def _by_name(record: ClusterRecord) -> str:
    return record.name


def _by_key(entry: tuple[RegionKey, Any]) -> RegionKey:
    return entry[0]
