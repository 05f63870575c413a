"""Idle nodes, and the life of a removal, in the words of the reference rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.nodepool import ScaleDown
from growth.api.noderemovalrequest import RemovalPhase
from growth.api.wellknown import SCALE_DOWN_AT_ANNOTATION
from growth.foreign_text import parse_time
from reconciler.core.actions import OpenRemoval, SetNode
from reconciler.core.decision import NEVER
from reconciler.providers.port import DeleteOutcome, Sight
from tests.reconciler.build import at, pool
from tests.removal.build import CLOUD, NAME, attempted, machine, marked, node, removal, steps, world
from tests.scheduling import build
from tests.vectors.registry import adapts
from tests.vectors.removing import NOW, SCALE_DOWN, Removing

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from tests.vectors.rows import Json

A_MOMENT_AGO = NOW - 1.0
LONG_AGO = NOW - 500.0
UPSTREAM = {"RemovalFailed": "CouldNotRemove"}
"""A phase as upstream's rows call it."""
PODS: dict[str, Json] = {
    "workload": {"nodeSelector": {"growth.dev/pool": "default"}},
    "plain": {},
    "daemonset": {
        "metadata": {
            "ownerReferences": [
                {"kind": "DaemonSet", "name": "owner", "uid": "1", "controller": True}
            ]
        }
    },
    "mirror": {"metadata": {"annotations": {"kubernetes.io/config.mirror": "1"}}},
    "finished": {"status": {"phase": "Succeeded"}},
}


@adapts("idle_nodes")
def idle_nodes(given: Json) -> Json:
    types = [{"name": "small", "min": given["min"], "max": 99}]
    removals = [
        removal(each["node"], status={"phase": each["phase"]}, reason="Idle")
        for each in given["removal_requests"]
    ]
    pods = [_pod(each["kind"], each["node"]) for each in given["pods"]]
    nodes = [each if isinstance(each, dict) else {"name": each} for each in given["nodes"]]
    managed = [each["name"] for each in nodes if each.get("managed", True)]
    seen = world(
        *(node(name) for name in managed),
        *(build.node(each["name"]) for each in nodes if each["name"] not in managed),
        *pods,
        *removals,
        pool(serverTypes=types),
        shown=tuple(machine(name) for name in managed),
    )
    idle = [step.node.name for step in steps(seen, NOW) if isinstance(step, SetNode)]
    return {"idle": idle, "idle_count": len(idle)}


def _pod(kind: str, place: str) -> Pod:
    return build.pod("one", on=place, **PODS[kind])


@adapts("removal_step")
def removal_step(given: Json) -> Json:
    """Upstream's cooling-off is our wait for an orphan, as idle nodes wait before their removal."""
    waits = float(given.get("cooling_off_seconds") or 0)
    status: Any = {"phase": given["phase"]}
    if given["phase"] == "Deprovisioning":
        status = attempted(given.get("removal_attempts", 1), seconds=LONG_AGO)
    has_node = given.get("node_exists", True)
    seen = world(
        removal(
            reason="Orphan" if waits else "Idle",
            status=status,
            made_at=NOW - given.get("elapsed_seconds", 0),
        ),
        *([marked(until=0)] if has_node and not waits else []),
        *([] if given.get("idle", True) else [build.pod("one", on=NAME)]),
        pool(scaleDown={"attempts": given.get("max_attempts", 5)}),
        shown=() if given.get("provider_status") == "NotFound" else (machine(),),
        listed_at=NOW,
    )
    timing = msgspec.structs.replace(seen.timing, orphan_age=waits)
    seen = msgspec.structs.replace(seen, timing=timing)
    if given.get("provider_status") == "error":
        seen = msgspec.structs.replace(seen, clouds={CLOUD: Sight(blind_since=NOW, problem="x")})
    is_refused = given.get("provider_delete") == "fails"
    answer = DeleteOutcome.FAILED if is_refused else DeleteOutcome.ACCEPTED
    # Without a Node there is nothing to be freed: only the machine's end is waited for.
    played = Removing(world=seen, answer=answer, goes_at_once=not has_node)
    played.play()
    phase = played.status.phase.value
    is_blind = seen.clouds[CLOUD].listing is None
    return {
        "phase": UPSTREAM.get(phase, phase),
        "requeue": played.wakes_at < NEVER or is_blind,
        "request_deleted": played.is_deleted,
        "removal_attempts": played.status.removal_attempt,
        "provider_deletes": played.asked,
        # The listing is one for all machines, whoever asks.
        "provider_status_calls": 0,
    }


@adapts("removal_cancel")
def removal_cancel(given: Json) -> Json:
    """The original's three steps are two writes here: both marks go in one, the removal after."""
    refused = {1: "SetNode", 2: "SetNode", 3: "Delete"}[given["fail_step"]]
    pods = [build.pod("one", on=NAME)] if given["pod_scheduled_on_node"] else []
    seen = world(marked(until=0), removal(reason="Idle"), *pods, shown=(machine(),))
    first = Removing(world=seen, refuses=frozenset({refused}))
    first.play()
    retry = Removing(world=first.world)
    retry.play()
    return {
        "first_run": "error" if first.has_failed else "ok",
        "request_exists": not first.is_deleted,
        "candidate_mark_present": first.is_tainted,
        "delete_at_present": first.goes_at is not None,
        "retry": {
            "ok": not retry.has_failed,
            "request_exists": not retry.is_deleted,
            "marks_present": retry.is_tainted or retry.goes_at is not None,
        },
    }


@adapts("seed_scale_down")
def seed_scale_down(given: Json) -> Json:
    is_marked = given.get("marked", False)
    until = A_MOMENT_AGO if given.get("time_reached") else NOW + 30
    pods = [build.pod(f"pod-{n}", on=NAME) for n in range(given.get("pods", 0))]
    idle = marked(until=until) if is_marked else node()
    done = steps(world(idle, *pods, shown=(machine(),)), NOW)
    opened = [each.removal.status.phase.value for each in done if isinstance(each, OpenRemoval)]
    answer: Json = {"removal_request": opened[0] if opened else False}
    for each in done:
        if isinstance(each, SetNode):
            answer |= _marks(each)
    return answer


def _marks(step: SetNode) -> Json:
    """What a write makes of the marks of a node."""
    taint = next((each for each in step.taints or () if each.key == SCALE_DOWN), None)
    if SCALE_DOWN_AT_ANNOTATION not in step.annotations:
        return {"taint_removed": taint is None, "mark_removed": False}
    written = step.annotations[SCALE_DOWN_AT_ANNOTATION]
    if written is None or taint is None:
        return {"taint_removed": taint is None, "mark_removed": written is None}
    is_future = parse_time(written) > at(NOW).wall
    return {
        "scale_down_at": "set (future)" if is_future else "set (past)",
        "taint": f"{taint.key}:{taint.effect}",
    }


@adapts("seed_removal")
def seed_removal(given: Json) -> Json:
    seen = _removal_of(given)
    before = seen.removals[NAME].status
    played = Removing(world=seen)
    played.play()
    after = played.status
    is_given_up = after.phase is RemovalPhase.REMOVAL_FAILED
    asked_now = after.remove_attempted_at == at(NOW).wall
    return {
        "phase": after.phase.value,
        "provider_delete": bool(played.asked),
        "attempts": after.removal_attempt,
        "attempts_added": after.removal_attempt - before.removal_attempt,
        "remove_attempted_at": "now" if asked_now else "unchanged",
        "request_deleted": played.is_deleted,
        "node_freed": played.is_freed,
        "cancelled": played.is_deleted and not played.is_freed,
        "taint_removed": not played.is_tainted,
        "node_still_tainted": played.is_tainted,
        "events_on": played.events_on,
        "terminal": is_given_up and not steps(played.world, NOW + 9999),
    }


def _removal_of(given: Json) -> World:
    most = ScaleDown().attempts
    tries = most + 1 if given.get("attempts_exceed_max") else given.get("attempts", 1)
    asked_at = LONG_AGO if given.get("retry_due", True) else A_MOMENT_AGO
    status: Json = {"phase": given["phase"]}
    if given["phase"] != "Pending":
        status = attempted(tries, seconds=asked_at) | status
    return world(
        removal(reason="Idle", status=status, held=False),
        marked(until=0),
        *(build.pod(f"pod-{n}", on=NAME) for n in range(given.get("pods", 0))),
        shown=() if given.get("provider") == "gone" else (machine(),),
        listed_at=NOW,
    )
