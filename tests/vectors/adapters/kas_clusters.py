"""Clusters that come and go: each row is one pass over a fleet, carried out with its faults."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fleet.clusters.growing import cluster_to_come
from fleet.core.actions import (
    CreateRecord,
    DeleteCluster,
    RemoveAgentAccount,
    RemoveIdentity,
    SetState,
    SoftDelete,
)
from fleet.core.clusters import RegionKey
from fleet.core.states import ClusterState
from fleet.core.world import FleetUnseen, FleetWorld
from fleet.passes import fleet_pass
from growth.errors import RetryLater
from growth.service.passing import carry_out_sequence
from tests.fleet.building import KEY, NOW, a_cluster, a_region, a_sight
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from fleet.core.actions import FleetAction
    from fleet.core.clusters import FleetCluster
    from growth.service.passing import SequenceOutcome
    from tests.vectors.rows import Json

FAILS = "fails"
STEPS = {
    DeleteCluster: "provider delete",
    SoftDelete: "soft delete in the database",
    RemoveIdentity: "remove identity client and agent service account",
    RemoveAgentAccount: "remove identity client and agent service account",
}


@adapts("provision_state", system="kas")
def provision_state(given: Json) -> Json:
    progress, _, fault = given["provider"].partition(" ")
    cluster = a_cluster("a", given["state"])
    failing = frozenset({SetState} if fault else ())
    sight = a_sight(progress=progress)
    outcome = _of_cluster(_world([cluster], sights={"a": sight}), failing)
    updates = [each for each in outcome.done if isinstance(each, SetState)]
    return {
        "state": _state(cluster, outcome),
        "updates": len(updates),
        "error": outcome.error is not None,
    }


@adapts("after_provisioning", system="kas")
def after_provisioning(given: Json) -> Json:
    cluster = a_cluster("a", "cluster_provisioned")
    sights = {"a": a_sight(is_equipped=given["addon_ready"])}
    world = _world([cluster], sights=sights, agents_report=given["agent_sync"])
    state = _state(cluster, _of_cluster(world, frozenset()))
    return {"state": "unchanged" if state == cluster.state else state, "error": False}


@adapts("cluster_scale_up", system="kas")
def cluster_scale_up(given: Json) -> Json:
    regions = given.get("regions") or {given["region"]: given["states"]}
    provider = given.get("provider", KEY.provider)
    scales = given.get("auto_scaling", True)
    rows = tuple(a_region(RegionKey(provider, each), scales=scales) for each in regions)
    world = FleetWorld(
        regions=rows,
        clusters=None if given.get("list") == FAILS else _clusters(given, regions, provider),
    )
    try:
        sequences = fleet_pass(world, NOW)
    except FleetUnseen:
        return {"error": True, "created": 0}
    failing = frozenset({CreateRecord} if given.get("register") == FAILS else ())
    records = [
        action.record
        for sequence in sequences
        for action in _carried_out(sequence, failing).done
        if isinstance(action, CreateRecord)
    ]
    created = {each: sum(record.key.region == each for record in records) for each in regions}
    fresh = cluster_to_come(rows[0], (), now=NOW)
    return {
        "error": False,
        "created": created if isinstance(regions, dict) and "regions" in given else len(records),
        "state": fresh.state.value,
        "multi_az": fresh.multi_az,
    }


def _clusters(given: Json, regions: Any, provider: str) -> tuple[FleetCluster, ...]:
    states = regions if isinstance(regions, dict) else {}
    told = [(region, state) for region in states for state in states[region]]
    told += [(each["region"], each["state"]) for each in given.get("clusters", ())]
    return tuple(
        a_cluster(f"cluster-{number}", state, key=RegionKey(provider, region))
        for number, (region, state) in enumerate(told)
    )


@adapts("cluster_scale_down", system="kas")
def cluster_scale_down(given: Json) -> Json:
    cluster = a_cluster("a", given.get("state", "ready"), instances=given.get("instances", 0))
    is_seen = FAILS not in {given.get("count"), given.get("lookup")}
    world = _world([cluster, *_siblings(given)] if is_seen else None)
    try:
        failing = frozenset({SetState} if given.get("update") == FAILS else ())
        outcome = _of_cluster(world, failing)
    except FleetUnseen:
        return {"error": True, "deprovisioned": False}
    state = _state(cluster, outcome)
    return {
        "error": outcome.error is not None,
        "deprovisioned": state == ClusterState.DEPROVISIONING,
        "state": state,
    }


def _siblings(given: Json) -> list[FleetCluster]:
    told = given.get("siblings") or ["ready"] * (given.get("ready_in_region", 1) - 1)
    return [_sibling(f"sibling-{number}", each) for number, each in enumerate(told)]


def _sibling(name: str, told: str) -> FleetCluster:
    """Such as `ready`, or `ready @other-region`."""
    state, _, place = (part.strip() for part in told.partition("@"))
    provider = place if "provider" in place else KEY.provider
    region = place if "region" in place else KEY.region
    return a_cluster(name, state, key=RegionKey(provider, region))


@adapts("cluster_delete", system="kas")
def cluster_delete(given: Json) -> Json:
    by_hand = bool(given.get("manual"))
    state = given.get("state", "deprovisioning")
    cluster = a_cluster("a", state, instances=0, is_deleted_by_hand=by_hand)
    has_sibling = given.get("sibling", None if by_hand else "yes")
    world = _world(
        [cluster, *([a_cluster("sibling")] if has_sibling else [])], sights={"a": a_sight()}
    )
    outcome = _of_cluster(world, _failing_deletion(given))
    steps = [STEPS[type(each)] for each in outcome.done if type(each) in STEPS]
    return {
        "error": outcome.error is not None,
        "deleted": {type(each) for each in outcome.done} >= set(STEPS),
        "state": _state(cluster, outcome),
        "steps": list(dict.fromkeys(steps)),
    }


def _failing_deletion(given: Json) -> frozenset[type]:
    faults = {
        DeleteCluster: given.get("provider_delete", 204) not in {200, 202, 204, 404},
        SoftDelete: given.get("soft_delete") == FAILS,
        RemoveIdentity: given.get("idp") == FAILS,
        RemoveAgentAccount: given.get("service_account") == FAILS,
        SetState: given.get("update") == FAILS,
    }
    return frozenset(action for action, fails in faults.items() if fails)


def _world(clusters: list[FleetCluster] | None, **known: Any) -> FleetWorld:
    known_clusters = None if clusters is None else tuple(clusters)
    return FleetWorld(regions=(a_region(most=0),), clusters=known_clusters, **known)


def _of_cluster(world: FleetWorld, failing: frozenset[type]) -> SequenceOutcome[FleetAction]:
    """What is done to the cluster that the row is about, which is called `a`."""
    sequences = fleet_pass(world, NOW)
    own = [each for each in sequences if not isinstance(each[0], CreateRecord)]
    [sequence] = [each for each in own if getattr(each[0], "name", "") == "a"] or [()]
    return _carried_out(sequence, failing)


def _carried_out(sequence: Any, failing: frozenset[type]) -> SequenceOutcome[FleetAction]:
    async def do(action: FleetAction) -> None:
        if type(action) in failing:
            raise RetryLater("it fails in this row")

    return asyncio.run(carry_out_sequence(sequence, do))


def _state(cluster: FleetCluster, outcome: SequenceOutcome[FleetAction]) -> str:
    states = [each.state for each in outcome.done if isinstance(each, SetState)]
    return (states or [cluster.state])[-1].value
