"""One pass: a world in, at most one sequence of actions for each cluster out.

First each cluster by itself: its way in, its report, its way out. Then which clusters have become
superfluous, and which regions need one more: by states that are written, and don't change now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fleet.clusters.deleting import deprovisioning_steps, unstoppable_ending
from fleet.clusters.growing import cluster_to_come, needs_cluster
from fleet.clusters.provisioning import state_after_installing, state_by_provider
from fleet.clusters.shrinking import superfluous_clusters
from fleet.core.actions import (
    CreateCluster,
    CreateRecord,
    Equip,
    SetNodes,
    SetState,
)
from fleet.core.provider import NodeCounts
from fleet.core.states import ClusterState
from fleet.nodes.scaled import ScaledCluster
from fleet.nodes.steps import NodeStep
from fleet.reports.judging import judged_report

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from fleet.core.actions import ClusterSequence
    from fleet.core.clusters import FleetCluster, FleetRegion, RegionKey
    from fleet.core.world import FleetWorld


def fleet_pass(world: FleetWorld, now: datetime) -> tuple[ClusterSequence, ...]:
    """What to do now. Raises `FleetUnseen` if not all clusters are known."""
    clusters = world.known_clusters()
    alone = {each.name: _sequence_of(each, world, now) for each in clusters}
    # A state that is only decided on isn't true yet: its write may fail.
    settled = [each for each in clusters if not _changes(alone[each.name])]
    moving = {each.key for each in clusters if _changes(alone[each.name])}
    return (
        *(sequence for sequence in alone.values() if sequence),
        *_leaving(settled, alone, world),
        *_coming(clusters, world, now, moving=moving),
    )


def _changes(sequence: ClusterSequence) -> bool:
    """Whether a sequence changes the state of its cluster."""
    return any(isinstance(each, SetState) for each in sequence)


def _sequence_of(cluster: FleetCluster, world: FleetWorld, now: datetime) -> ClusterSequence:
    """What a cluster needs by itself."""
    if cluster.is_leaving:
        return unstoppable_ending(cluster, world.sights.get(cluster.name))
    if cluster.state is ClusterState.PROVISIONING:
        return _provisioning(cluster, world, now)
    return _BY_STATE.get(cluster.state, _reporting)(cluster, world)


def _accepted(cluster: FleetCluster, _: FleetWorld) -> ClusterSequence:
    state = SetState(cluster.name, ClusterState.PROVISIONING)
    return (CreateCluster(cluster.name), state)


def _provisioning(cluster: FleetCluster, world: FleetWorld, now: datetime) -> ClusterSequence:
    sight, region = world.sights.get(cluster.name), _region_of(cluster, world)
    state = ClusterState.PROVISIONING if sight is None else state_by_provider(sight.progress)
    is_late = region is not None and now - cluster.since > region.provisioning_deadline
    if state is ClusterState.PROVISIONING and is_late:
        return _changed(cluster, ClusterState.FAILED)
    # If its creation was lost, it is asked for again; one that is there is found then.
    return (CreateCluster(cluster.name),) if sight is None else _changed(cluster, state)


def _region_of(cluster: FleetCluster, world: FleetWorld) -> FleetRegion | None:
    return next((each for each in world.regions if each.key == cluster.key), None)


def _installing(cluster: FleetCluster, world: FleetWorld) -> ClusterSequence:
    sight = world.sights.get(cluster.name)
    is_equipped = sight is not None and sight.is_equipped
    state = state_after_installing(is_equipped=is_equipped, agent_reports=world.agents_report)
    return _changed(cluster, state) if is_equipped else (Equip(cluster.name),)


def _reporting(cluster: FleetCluster, world: FleetWorld) -> ClusterSequence:
    report, sight = world.reports.get(cluster.name), world.sights.get(cluster.name)
    region = _region_of(cluster, world)
    if report is None or region is None:
        return ()
    scaled = ScaledCluster(model_t=region.model_t, multi_az=cluster.multi_az, scales=region.scales)
    counts = NodeCounts(desired=None, existing=None) if sight is None else sight.counts
    verdict = judged_report(report, state=cluster.state, cluster=scaled, counts=counts)
    steps = _changed(cluster, verdict.state)
    if isinstance(verdict.step, NodeStep):
        return (*steps, SetNodes(cluster.name, verdict.step.nodes))
    return steps


def _deprovisioning(cluster: FleetCluster, world: FleetWorld) -> ClusterSequence:
    return deprovisioning_steps(cluster, world.known_clusters())


def _failed(_cluster: FleetCluster, _world: FleetWorld) -> ClusterSequence:
    """A failed cluster stays for people to look at, and goes when they delete it."""
    return ()


_BY_STATE: Final = {
    ClusterState.ACCEPTED: _accepted,
    ClusterState.PROVISIONED: _installing,
    ClusterState.DEPROVISIONING: _deprovisioning,
    ClusterState.FAILED: _failed,
}
"""In all other states, a report decides."""


def _changed(cluster: FleetCluster, state: ClusterState) -> ClusterSequence:
    return () if state is cluster.state else (SetState(cluster.name, state),)


def _leaving(
    settled: list[FleetCluster], alone: Mapping[str, ClusterSequence], world: FleetWorld
) -> Iterator[ClusterSequence]:
    """Clusters that have become superfluous and have nothing else to do."""
    scaled = {each.key for each in world.regions if each.scales}
    for each in superfluous_clusters(settled):
        if each.key in scaled and not alone[each.name]:
            yield (SetState(each.name, ClusterState.DEPROVISIONING),)


def _coming(
    clusters: Sequence[FleetCluster],
    world: FleetWorld,
    now: datetime,
    *,
    moving: Collection[RegionKey],
) -> Iterator[ClusterSequence]:
    """One new cluster for each region that needs it and in which no state is changing."""
    for region in world.regions:
        if region.key not in moving and needs_cluster(region, clusters, now=now):
            yield (CreateRecord(cluster_to_come(region, clusters, now=now)),)
