"""VPSie: how many nodes a group should have, and what a change of that sets off."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from growth.api.vpsie_nodegroup import VpsieGroupSpec, is_managed_group
from reconciler.scaling.desired.cooldowns import (
    ScalingTimes,
    is_cooling_down,
    is_cooling_up,
    lasts,
    time_left,
)
from reconciler.scaling.desired.counting import (
    SizeCounts,
    clamped_count,
    count_with_pending,
    raised_count,
)
from reconciler.scaling.desired.safety import pool_block
from reconciler.scaling.desired.sizing import nodes_needed
from reconciler.scaling.desired.stages import NodeStage, stamped
from tests.reconciler.build import START
from tests.vectors.adapters.vpsie_pods import deficit_in, room_in
from tests.vectors.answers import AtMost, Containing
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json

VPSIE = "vpsie"
STABILISATION = 60.0
"""Seconds between two raises, as the original's own default."""
ROOM = {"cpu": 4, "mem_mb": 8192}
"""The machine that rows about decisions have in mind."""


def _counts(given: Json) -> SizeCounts:
    bounds = {"least": given.get("min", 0)} | ({"most": given["max"]} if "max" in given else {})
    return SizeCounts(current=given["current"], desired=given["desired"], **bounds)


@adapts("validate", system=VPSIE)
def validate(given: Json) -> Json:
    spec = VpsieGroupSpec(
        least=given["min_nodes"],
        most=given["max_nodes"],
        datacenter=given.get("datacenter") or "",
        offerings=tuple(given.get("offerings") or ()),
        os_image=given.get("os_image") or "",
        kubernetes_version=given.get("kubernetes_version") or "",
    )
    problem = next(spec.problems, "")
    return {"valid": not problem, "error_contains": Containing(problem)}


@adapts("managed_group", system=VPSIE)
def managed_group(given: Json) -> Json:
    return {"managed": is_managed_group(given["labels"] or {})}


@adapts("clamp_desired", system=VPSIE)
def clamp_desired(given: Json) -> Json:
    return {"desired": clamped_count(given["desired"], least=given["min"], most=given["max"])}


@adapts("desired_from_pending", system=VPSIE)
def desired_from_pending(given: Json) -> Json:
    needed = given["required_for_pending"]
    wanted = count_with_pending(given["current"], needed, least=given["min"], most=given["max"])
    return {"desired": wanted}


@adapts("needs_scale_up", system=VPSIE)
def needs_scale_up(given: Json) -> Json:
    return {"needs": _counts(given).needs_more}


@adapts("needs_scale_down", system=VPSIE)
def needs_scale_down(given: Json) -> Json:
    return {"needs": _counts(given).needs_fewer}


@adapts("nodes_to_add", system=VPSIE)
def nodes_to_add(given: Json) -> Json:
    return {"nodes_to_add": _counts(given).missing(batch=given.get("batch") or 0)}


@adapts("nodes_to_remove", system=VPSIE)
def nodes_to_remove(given: Json) -> Json:
    return {"nodes_to_remove": _counts(given).excess}


@adapts("is_scaling", system=VPSIE)
def is_scaling(given: Json) -> Json:
    return {"scaling": _counts(given).is_scaling}


@adapts("is_ready", system=VPSIE)
def is_ready(given: Json) -> Json:
    return {"ready": _counts(given).is_settled(given["ready"])}


@adapts("scaling_state", system=VPSIE)
def scaling_state(given: Json) -> Json:
    counts = _counts(given)
    return {
        "needs_scale_up": counts.needs_more,
        "needs_scale_down": counts.needs_fewer,
        "can_scale_up": counts.may_grow,
        "can_scale_down": counts.may_shrink,
    }


@adapts("set_desired", system=VPSIE)
def set_desired(given: Json) -> Json:
    times = ScalingTimes(desired=given["desired"]).resized(given["new"], now=START)
    return {
        "desired": times.desired,
        "last_scale_time": times.changed_at and "set",
        "last_scale_up_time": times.grown_at and "set",
        "last_scale_down_time": times.shrunk_at and "set",
    }


@adapts("scale_up_trigger", system=VPSIE)
def scale_up_trigger(given: Json) -> Json:
    return {"trigger": _counts(given).wants_growth(unschedulable=given["unschedulable"])}


@adapts("scale_down_trigger", system=VPSIE)
def scale_down_trigger(given: Json) -> Json:
    counts = _counts(given)
    has_cooled = given["cooldown_elapsed"]
    return {
        "trigger": counts.wants_shrinking(underused=given["underutilised"], has_cooled=has_cooled)
    }


@adapts("scale_down_cooldown", system=VPSIE)
def scale_down_cooldown(given: Json) -> Json:
    elapsed = given["elapsed_seconds"]
    return {"in_cooldown": is_cooling_down(given["cooldown_seconds"], elapsed=elapsed)}


@adapts("outside_cooldown", system=VPSIE)
def outside_cooldown(given: Json) -> Json:
    elapsed = given["elapsed_seconds"]
    return {"outside": not is_cooling_down(given["cooldown_seconds"], elapsed=elapsed)}


@adapts("scale_up_cooldown", system=VPSIE)
def scale_up_cooldown(given: Json) -> Json:
    elapsed = given["elapsed_seconds"]
    return {"in_cooldown": is_cooling_up(given["cooldown_seconds"], elapsed=elapsed)}


@adapts("scale_up_stabilisation", system=VPSIE)
def scale_up_stabilisation(given: Json) -> Json:
    elapsed = given["elapsed_seconds"]
    return {"can_scale": not is_cooling_up(given["window_seconds"], elapsed=elapsed)}


@adapts("recent_events", system=VPSIE)
def recent_events(given: Json) -> Json:
    window, ages = given["window_seconds"], given["ages_seconds"]
    return {"kept": [name for name, age in ages.items() if lasts(window, elapsed=age)]}


@adapts("can_scale_down", system=VPSIE)
def can_scale_down(given: Json) -> Json:
    nodes = given["nodes"]
    counts = SizeCounts(current=nodes, desired=nodes, least=given["min"], most=given["max"])
    blocked = pool_block(
        counts,
        cooldown=given.get("cooldown_seconds", 0),
        elapsed=given.get("elapsed_seconds"),
    )
    return {"allowed": blocked is None, "reason": "" if blocked is None else blocked.why}


@adapts("scale_up_decision", system=VPSIE)
def scale_up_decision(given: Json) -> Json:
    """The original adds one node and waits until it is ready: a batch of one."""
    deficit = deficit_in(given["pods"], cpu=given["cpu"], memory=given["mem"])
    desired = given["desired"]
    raised = raised_count(
        SizeCounts(current=desired, desired=desired, most=given["max"]),
        ready=given["ready"],
        needed=nodes_needed(deficit, room_in(ROOM)),
        batch=1,
        cools=given.get("in_cooldown", False),
    )
    return {"decision": raised, "desired": raised}


@adapts("scale_up_execute", system=VPSIE)
def scale_up_execute(given: Json) -> Json:
    times = ScalingTimes(desired=given["current"]).resized(given["desired"], now=START)
    later = START + timedelta(seconds=1)
    elapsed = None if times.grown_at is None else (later - times.grown_at).total_seconds()
    return {
        "status_desired": times.desired,
        "can_scale_again": not is_cooling_up(STABILISATION, elapsed=elapsed),
    }


@adapts("phases", system=VPSIE)
def phases(_: Json) -> Json:
    return {"phases": [each.value for each in NodeStage]}


@adapts("phase_timestamps", system=VPSIE)
def phase_timestamps(given: Json) -> Json:
    if "phase" in given:
        return {"set": list(stamped({}, NodeStage(given["phase"]), now=START))}
    first, again = map(NodeStage, given["phases"])
    times = stamped({}, first, now=START)
    later = stamped(times, again, now=START + timedelta(seconds=1))
    return {f"{name}_unchanged": later[name] == times[name] for name in times}


@adapts("failed_ttl", system=VPSIE)
def failed_ttl(given: Json) -> Json:
    left = time_left(given["ttl_seconds"], elapsed=given.get("age_seconds") or 0)
    return {
        "requeue": left is not None and left > 0,
        "requeue_after_max_seconds": None if left is None else AtMost((left,)),
        "deleted": left is not None and left <= 0,
    }
