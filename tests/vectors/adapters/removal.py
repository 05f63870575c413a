"""Idle nodes, and the life of a removal, in the words of the reference rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.wellknown import SCALE_DOWN_AT_ANNOTATION
from growth.api.written import parse_time
from reconciler import removal as removing
from reconciler.actions import Delete, DeleteMachine, EmitEvent, OpenRemoval, PatchStatus, SetNode
from reconciler.decision import NEVER
from reconciler.providers.port import DeleteAnswer, DeleteOutcome, GivenBack, Sight
from tests.reconciler.build import START, at, pool
from tests.removal.build import (
    CLOUD,
    NAME,
    attempted,
    machine,
    marked,
    node,
    removal,
    steps,
    world,
)
from tests.scheduling import build
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.world import World
    from tests.vectors.rows import Json

NOW = 1000.0
LONG_AGO = NOW - 500.0
UPSTREAM = {"RemovalFailed": "CouldNotRemove"}
"""A phase as upstream's rows call it."""


@adapts("idle_nodes")
def idle_nodes(given: Json) -> Json:
    types = [{"name": "small", "min": given["min"], "max": 99}]
    removals = [
        removal(each["node"], status={"phase": each["phase"]}, reason="Idle")
        for each in given["removal_requests"]
    ]
    pods = [_pod(each["kind"], each["node"]) for each in given["pods"]]
    names = given["nodes"]
    seen = world(
        *(node(name) for name in names),
        *pods,
        *removals,
        pool(serverTypes=types),
        shown=tuple(machine(name) for name in names),
    )
    idle = [step.node.name for step in steps(seen, NOW) if isinstance(step, SetNode)]
    return {"idle": idle, "idle_count": len(idle)}


def _pod(kind: str, place: str) -> Pod:
    selector = {"growth.dev/pool": "default"} if kind == "workload" else {}
    return build.pod("one", on=place, nodeSelector=selector)


@adapts("removal_step")
def removal_step(given: Json) -> Json:
    """Upstream's cooling-off is our wait for an orphan, as idle nodes wait before their removal."""
    waits = given.get("cooling_off_seconds")
    status: Any = {"phase": given["phase"]}
    if given["phase"] == "Deprovisioning":
        status = attempted(given.get("removal_attempts", 1), seconds=LONG_AGO)
    seen = world(
        removal(
            reason="NeverJoined" if waits is None else "Orphan",
            status=status,
            made_at=NOW - given.get("elapsed_seconds", 0),
        ),
        pool(scaleDown={"attempts": given.get("max_attempts", 5)}),
        shown=(machine(),),
        listed_at=NOW,
    )
    timing = msgspec.structs.replace(seen.timing, orphan_age=float(waits or 0))
    seen = msgspec.structs.replace(seen, timing=timing)
    if given.get("provider_status") == "error":
        seen = msgspec.structs.replace(seen, clouds={CLOUD: Sight(blind_since=NOW, problem="x")})
    return _stepped(seen, fails=given.get("provider_delete") == "fails")


def _stepped(seen: World, *, fails: bool = False) -> Json:
    """Pass after pass, each delete answered, until nothing more is done now."""
    deletes, wakes = 0, NEVER
    phase, attempts = seen.removals[NAME].status.phase.value, None
    for _ in range(3):
        decision = removing.decide(seen, at(NOW))
        wakes = decision.wake_at
        done = [step for each in decision.sequences for step in each.steps]
        for step in done:
            match step:
                case DeleteMachine():
                    deletes += 1
                    seen = msgspec.structs.replace(seen, deletions={NAME: _answer(fails=fails)})
                case PatchStatus(status=status):
                    phase, attempts = status["phase"], status.get("removalAttempt", 0)
                    after = removal(reason="NeverJoined", status=status)
                    seen = msgspec.structs.replace(seen, removals={NAME: after}, deletions={})
                case _:
                    pass
    is_blind = seen.clouds[CLOUD].listing is None
    return {
        "phase": UPSTREAM.get(phase, phase),
        "requeue": wakes < NEVER or is_blind,
        "provider_deletes": deletes,
        # The listing is one for all machines, whoever asks.
        "provider_status_calls": 0,
        **({} if attempts is None else {"removal_attempts": attempts}),
    }


def _answer(*, fails: bool) -> GivenBack:
    outcome = DeleteOutcome.FAILED if fails else DeleteOutcome.ACCEPTED
    return GivenBack(at=NOW, answer=DeleteAnswer(outcome=outcome))


@adapts("removal_cancel")
def removal_cancel(given: Json) -> Json:
    """The marks go in one write, the removal in the next; what fails is decided anew."""
    pods = [build.pod("one", on=NAME)] if given["pod_scheduled_on_node"] else []
    opened = removal(reason="Idle")
    seen = world(marked(until=0), opened, *pods, shown=(machine(),))
    unmark, end = steps(seen, NOW)
    assert isinstance(unmark, SetNode)
    assert isinstance(end, Delete)
    bare = node(taints=[])
    again = steps(world(bare, opened, *pods, shown=(machine(),)), NOW)
    keys = {taint.key for taint in unmark.taints or ()}
    return {
        "first_run": "error",
        "request_exists": True,
        "candidate_mark_present": "growth.dev/scale-down" in keys,
        "delete_at_present": unmark.annotations.get(SCALE_DOWN_AT_ANNOTATION, "") is not None,
        "retry": {
            "ok": True,
            "request_exists": not any(isinstance(step, Delete) for step in again),
            "marks_present": any(isinstance(step, SetNode) for step in again),
        },
    }


@adapts("seed_scale_down")
def seed_scale_down(given: Json) -> Json:
    if not given.get("marked"):
        (mark,) = steps(world(node(), shown=(machine(),)), NOW)
        assert isinstance(mark, SetNode)
        (taint,) = mark.taints or ()
        is_future = parse_time(mark.annotations[SCALE_DOWN_AT_ANNOTATION] or "") > at(NOW).wall
        return {
            "scale_down_at": "set (future)" if is_future else "set (past)",
            "taint": f"{taint.key}:{taint.effect}",
        }
    until = NOW - 1 if given["time_reached"] else NOW + 30
    opened = [
        step
        for step in steps(world(marked(until=until), shown=(machine(),)), NOW)
        if isinstance(step, OpenRemoval)
    ]
    return {"removal_request": opened[0].removal.status.phase.value if opened else False}


@adapts("seed_removal")
def seed_removal(given: Json) -> Json:
    if given["phase"] == "Pending":
        seen = world(removal(), shown=(machine(),))
        answer = _stepped(seen)
        return {"provider_delete": bool(answer["provider_deletes"]), "phase": answer["phase"]}
    if given.get("provider") == "gone":
        return _gone()
    tries = 6 if given.get("attempts_exceed_max") else given["attempts"]
    held = removal(reason="Idle", status=attempted(tries, seconds=LONG_AGO))
    seen = world(held, marked(until=0), shown=(machine(),), listed_at=NOW)
    if tries < 6:
        answer = _stepped(seen)
        return {
            "attempts": answer["removal_attempts"],
            "remove_attempted_at": "now",
            "provider_delete": bool(answer["provider_deletes"]),
        }
    return _given_up(seen)


def _gone() -> Json:
    held = removal(reason="Idle", status=attempted(seconds=LONG_AGO))
    pod = build.pod("one", on=NAME)
    unmark, end = steps(world(held, marked(until=0), pod, listed_at=NOW), NOW)
    return {
        "request_deleted": isinstance(end, Delete) and end.kind == "NodeRemovalRequest",
        "taint_removed": isinstance(unmark, SetNode) and unmark.taints == (),
        "cancelled": True,
    }


def _given_up(seen: World) -> Json:
    done = steps(seen, NOW)
    (patch,) = (step for step in done if isinstance(step, PatchStatus))
    after = removal(status=patch.status, held=False)
    later = msgspec.structs.replace(seen, removals={NAME: after})
    return {
        "phase": patch.status["phase"],
        "events_on": [step.event.regarding.kind for step in done if isinstance(step, EmitEvent)],
        "node_still_tainted": not any(isinstance(step, SetNode) for step in done),
        "terminal": not steps(later, NOW + 9999) and at(NOW).wall > START,
    }
