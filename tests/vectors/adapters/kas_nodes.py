"""Compute nodes of a cluster: bounds, capacity, steps, and the guard against two at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fleet.core.provider import NodeCounts
from fleet.nodes.bounds import round_down, round_up
from fleet.nodes.capacity import state_by_capacity
from fleet.nodes.progress import NodesUnknown, is_scaling
from fleet.nodes.scaled import ScaledCluster
from fleet.nodes.steps import node_step
from tests.fleet.building import a_report, amounts
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from fleet.core.amounts import CapacityAmounts
    from fleet.core.report import AgentReport
    from tests.vectors.rows import Json


@adapts("round_up", system="kas")
def rounded_up(given: Json) -> Json:
    return {"result": round_up(given["value"], multiple=given["multiple"])}


@adapts("round_down", system="kas")
def rounded_down(given: Json) -> Json:
    return {"result": round_down(given["value"], multiple=given["multiple"])}


@adapts("node_scaling", system="kas")
def node_scaling(given: Json) -> Json:
    step = node_step(report_of(given), scaled_of(given))
    return {"action": step.direction.value, "nodes": step.nodes}


@adapts("cluster_status", system="kas")
def cluster_status(given: Json) -> Json:
    after = state_by_capacity(report_of(given), scaled_of(given)).value
    updates = int(after != given.get("before"))
    return {"after": after, "updates": updates, **node_scaling(given)}


@adapts("scaling_in_progress", system="kas")
def scaling_in_progress(given: Json) -> Json:
    desired, existing = given.get("desired_compute"), given.get("existing_compute")
    try:
        return {"in_progress": is_scaling(NodeCounts(desired=desired, existing=existing))}
    except NodesUnknown:
        return {"error": True}


NODES = ("ceiling", "floor", "current", "workload_minimum")


def report_of(given: Json, **more: Any) -> AgentReport:
    """The report of a row, wherever it names its parts."""
    told = {**given, **given.get("node_info", {})}
    if "minimum" in told:
        told["workload_minimum"] = told["minimum"]
    known = {name: told[name] for name in (*NODES, "node_delta") if name in told}
    known |= {name: pair(told[name]) for name in ("total", "remaining", "delta") if name in told}
    return a_report(**{"remaining": amounts(0), **known, **more})


def scaled_of(given: Json) -> ScaledCluster:
    return ScaledCluster(
        model_t=pair(given.get("model_t", 100)),
        multi_az=given.get("multi_az", True),
        scales=given.get("auto_scaling", True),
    )


def pair(told: Any) -> CapacityAmounts:
    """Amounts as rows write them: one for both, two, or by name."""
    if isinstance(told, dict):
        return amounts(told["connections"], told["partitions"])
    return amounts(*told) if isinstance(told, list) else amounts(told)
