"""One pass: a world in, at most one sequence of actions for each cluster out.

First each cluster by itself: its way in, its report, its way out. Then which clusters have become
superfluous, and which regions need one more, by the states that the first part leads to.
"""

from __future__ import annotations

from dataclasses import replace
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
    from collections.abc import Iterator
    from datetime import datetime

    from fleet.core.actions import ClusterSequence
    from fleet.core.clusters import ClusterRecord
    from fleet.core.world import FleetWorld


def fleet_pass(world: FleetWorld, now: datetime) -> tuple[ClusterSequence, ...]:
    """What to do now. Raises `FleetUnseen` if not all clusters are known."""
    clusters = world.known_clusters()
    alone = {each.name: _sequence_of(each, world) for each in clusters}
    after = [_after(each, alone[each.name]) for each in clusters]
    return (
        *(sequence for sequence in alone.values() if sequence),
        *(_leaving(after, alone, world)),
        *(_coming(after, world, now)),
    )


def _sequence_of(cluster: ClusterRecord, world: FleetWorld) -> ClusterSequence:
    """What a cluster needs by itself."""
    if cluster.is_leaving:
        return unstoppable_ending(cluster, is_at_provider=cluster.name in world.sights)
    return _BY_STATE.get(cluster.state, _reporting)(cluster, world)


def _accepted(cluster: ClusterRecord, _: FleetWorld) -> ClusterSequence:
    state = SetState(cluster.name, ClusterState.PROVISIONING)
    return (CreateCluster(cluster.name), state)


def _provisioning(cluster: ClusterRecord, world: FleetWorld) -> ClusterSequence:
    sight = world.sights.get(cluster.name)
    if sight is None:
        # Its creation was lost, and asking again finds it if it wasn't.
        return (CreateCluster(cluster.name),)
    return _changed(cluster, state_by_provider(sight.progress))


def _installing(cluster: ClusterRecord, world: FleetWorld) -> ClusterSequence:
    sight = world.sights.get(cluster.name)
    is_equipped = sight is not None and sight.is_equipped
    state = state_after_installing(is_equipped=is_equipped, agent_reports=world.agents_report)
    return _changed(cluster, state) if is_equipped else (Equip(cluster.name),)


def _reporting(cluster: ClusterRecord, world: FleetWorld) -> ClusterSequence:
    report, sight = world.reports.get(cluster.name), world.sights.get(cluster.name)
    region = next((each for each in world.regions if each.key == cluster.key), None)
    if report is None or region is None:
        return ()
    scaled = ScaledCluster(model_t=region.model_t, multi_az=cluster.multi_az, scales=region.scales)
    counts = NodeCounts(desired=None, existing=None) if sight is None else sight.counts
    verdict = judged_report(report, state=cluster.state, cluster=scaled, counts=counts)
    steps = _changed(cluster, verdict.state)
    if isinstance(verdict.step, NodeStep):
        return (*steps, SetNodes(cluster.name, verdict.step.nodes))
    return steps


def _deprovisioning(cluster: ClusterRecord, world: FleetWorld) -> ClusterSequence:
    return deprovisioning_steps(cluster, world.known_clusters())


def _failed(_cluster: ClusterRecord, _world: FleetWorld) -> ClusterSequence:
    """A failed cluster stays for people to look at, and goes when they delete it."""
    return ()


_BY_STATE: Final = {
    ClusterState.ACCEPTED: _accepted,
    ClusterState.PROVISIONING: _provisioning,
    ClusterState.PROVISIONED: _installing,
    ClusterState.DEPROVISIONING: _deprovisioning,
    ClusterState.FAILED: _failed,
}
"""In all other states, a report decides."""


def _changed(cluster: ClusterRecord, state: ClusterState) -> ClusterSequence:
    return () if state is cluster.state else (SetState(cluster.name, state),)


def _after(cluster: ClusterRecord, sequence: ClusterSequence) -> ClusterRecord:
    """The cluster in the state that its sequence leads to."""
    states = [each.state for each in sequence if isinstance(each, SetState)]
    return replace(cluster, state=states[-1]) if states else cluster


def _leaving(
    after: list[ClusterRecord], alone: dict[str, ClusterSequence], world: FleetWorld
) -> Iterator[ClusterSequence]:
    """Clusters that have become superfluous and have nothing else to do."""
    scaled = {each.key for each in world.regions if each.scales}
    for each in superfluous_clusters(after):
        if each.key in scaled and not alone[each.name]:
            yield (SetState(each.name, ClusterState.DEPROVISIONING),)


def _coming(
    after: list[ClusterRecord], world: FleetWorld, now: datetime
) -> Iterator[ClusterSequence]:
    """One new cluster for each region that needs it."""
    for region in world.regions:
        if needs_cluster(region, after):
            yield (CreateRecord(cluster_to_come(region, after, now=now)),)
