"""Reports: who may send them, what they must have, and what follows from them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fleet.core.actions import CreateRecord, SetNodes, SetState
from fleet.core.provider import NodeCounts
from fleet.core.report import AgentCondition
from fleet.core.states import REPORTING, ClusterState
from fleet.core.world import FleetWorld
from fleet.nodes.steps import NodeStep
from fleet.passes import fleet_pass
from fleet.reports.access import AGENT_ROLE, AgentClaims, refusal_of
from fleet.reports.body import report_in
from fleet.reports.configuration import AgentConfiguration
from fleet.reports.judging import NoStep, judged_report
from fleet.reports.readiness import agent_is_ready
from fleet.reports.refusal import ReportRefused
from tests.fleet.bodies import a_body, without
from tests.fleet.building import NOW, READY, a_cluster, a_region, a_sight
from tests.vectors.adapters.kas_nodes import pair, report_of, scaled_of
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from fleet.core.clusters import FleetCluster
    from fleet.core.report import AgentReport
    from tests.vectors.rows import Json

ISSUER = "jwks endpoint"
ACCEPTED = 204


@adapts("agent_ready", system="kas")
def agent_ready(given: Json) -> Json:
    try:
        return {"ready": agent_is_ready(_conditions(given["conditions"]))}
    except ReportRefused:
        return {"error": True}


@adapts("can_process_report", system="kas")
def can_process_report(given: Json) -> Json:
    return {"process": ClusterState(given["state"]) in REPORTING}


@adapts("report_flow", system="kas")
def report_flow(given: Json) -> Json:
    claims = AgentClaims(issuer=ISSUER, roles=frozenset({AGENT_ROLE}), cluster="a")
    is_known = given.get("cluster_exists", True)
    refusal = refusal_of(claims, cluster="a", issuers={ISSUER}, is_known=is_known)
    if refusal is not None:
        return {"status": refusal.value, "error": refusal.phrase.lower()}
    report = report_of(given, conditions=_readiness(given))
    current = report.nodes.current
    counts = NodeCounts(
        desired=given.get("desired_compute", current),
        existing=given.get("existing_compute", current),
    )
    state = ClusterState(given.get("state", "ready"))
    try:
        verdict = judged_report(report, state=state, cluster=scaled_of(given), counts=counts)
    except ReportRefused:
        return {"error": True, "state": state.value, "scaled": False, "updates": 0}
    step = verdict.step if isinstance(verdict.step, NodeStep) else None
    updates = int(verdict.state is not state)
    return {
        "status": ACCEPTED,
        "error": verdict.step is NoStep.NODES_UNKNOWN,
        "state": verdict.state.value,
        "scaled": step is not None,
        "then_nodes": step.nodes if step else current,
        "updates": updates,
        "changes": updates + int(step is not None),
    }


@adapts("report_integration", system="kas")
def report_integration(given: Json) -> Json:
    """Reports one after another, each in a pass over the whole fleet."""
    steps = given.get("steps") or [given.get("report", given)]
    cluster = a_cluster("a", given.get("state", "waiting_for_kas_fleetshard_operator"))
    nodes = given.get("initial_compute", 0)
    states, compute, fleet = [], [], [cluster]
    for step in steps:
        cluster, nodes, _ = _reported(given, step, cluster, nodes)
        # Whether clusters come is decided on the states that are written by then.
        _, _, fleet = _reported(given, None, cluster, nodes)
        states.append(cluster.state.value)
        compute.append(nodes)
    return {
        "status": ACCEPTED,
        "state": states[-1],
        "states": states,
        "compute": compute,
        "clusters_after": len(fleet),
    }


def _reported(
    given: Json, step: Json | None, cluster: FleetCluster, nodes: int
) -> tuple[FleetCluster, int, list[FleetCluster]]:
    """One pass, with a report or without one."""
    report = None if step is None else _report(step)
    now = nodes or (report.nodes.current if report else 0)
    world = FleetWorld(
        regions=(a_region(model_t=pair(given.get("model_t", 100))),),
        clusters=(cluster,),
        sights={"a": a_sight(now)},
        reports={"a": report} if report else {},
    )
    fleet = [cluster]
    for action in (each for sequence in fleet_pass(world, NOW) for each in sequence):
        match action:
            case SetState(state=state):
                cluster = replace(cluster, state=state)
            case SetNodes(nodes=wanted):
                now = wanted
            case CreateRecord(record=record):
                fleet.append(record)
            case _:
                raise AssertionError(action)
    return cluster, now, fleet


def _report(step: Json) -> AgentReport:
    conditions = _conditions(step["conditions"]) if "conditions" in step else READY
    return report_of(step, conditions=conditions)


@adapts("api_validation", system="kas")
def api_validation(given: Json) -> Json:
    try:
        report_in(json.dumps(without(a_body(), given["missing"])).encode())
    except ReportRefused as refused:
        is_named = refused.field.startswith(given["missing"])
        return {"status": 400 if is_named else 500, "field": refused.field}
    return {"status": ACCEPTED}


@adapts("api_put_status", system="kas")
def api_put_status(given: Json) -> Json:
    is_known = given.get("cluster_exists", True)
    told = {**given, "path": "same"}
    refusal = refusal_of(_claims(told), cluster="same", issuers={ISSUER}, is_known=is_known)
    return {"status": refusal.value if refusal else ACCEPTED}


@adapts("api_auth", system="kas")
def api_auth(given: Json) -> Json:
    cluster = given.get("path", "same")
    refusal = refusal_of(_claims(given), cluster=cluster, issuers={ISSUER}, is_known=True)
    return {"status": refusal.value if refusal else 200}


@adapts("agent_config", system="kas")
def agent_config(given: Json) -> Json:
    if given.get("lookup"):
        claims = _claims({"claim": "same"})
        refusal = refusal_of(claims, cluster="same", issuers={ISSUER}, is_known=False)
        return {"error": refusal is not None}
    configuration = AgentConfiguration(
        repository=given["repo"],
        channel=given["channel"],
        tag=given["tag"],
        access_token=given["token"],
    )
    return dict(configuration.as_json()["spec"])


def _claims(given: Json) -> AgentClaims | None:
    if given.get("token", "some") is None:
        return None
    role = given.get("role", AGENT_ROLE)
    return AgentClaims(
        issuer=given.get("iss", ISSUER),
        roles=frozenset([role] if isinstance(role, str) else role or ()),
        cluster=given.get("claim"),
    )


def _conditions(told: list[Json] | None) -> tuple[AgentCondition, ...]:
    return tuple(AgentCondition(type=each["type"], status=each["status"]) for each in told or ())


def _readiness(given: Json) -> tuple[Any, ...]:
    status = given.get("agent_ready", "True")
    return () if status is None else _conditions([{"type": "Ready", "status": str(status)}])
