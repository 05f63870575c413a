"""The life of a NodeRequest: what the provider says, what becomes of it, and when it is deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from reconciler.planning.refusals import Refusals, refusals
from reconciler.providers.port import Accepted, MachineState
from tests.planning.driver import Planner
from tests.provisioning.build import NAME, STARTS_AT, Life, machine, made_at, node, settled
from tests.reconciler.build import START, at, node_class, pool, waiting
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json

WAIT = 60.0
"""Seconds of readinessWait, and of both times to live, where a row doesn't say."""


def _life(phase: str, *, age: float | None, seconds: float = WAIT, held: bool = True) -> Life:
    """A request that came to its phase so long ago; nothing happens to its machine."""
    since = None if age is None else START + timedelta(seconds=STARTS_AT - age)
    stamps = {"lastTransitionTime": since, "acceptedAt": since, "nodeID": "kwok://default-1"}
    status = {"phase": phase} | ({} if since is None or phase == "Pending" else stamps)
    made = made_at(99, status=status)
    if not held:
        made = made.model_copy(
            update={"metadata": made.metadata.model_copy(update={"finalizers": ()})}
        )
    span = f"{seconds:.0f}s"
    spec: Any = {"readinessWait": span, "requestTTL": {"ready": span, "unmet": span}}
    return Life(made, settled(**spec))


@adapts("request_step")
def request_step(given: Json) -> Json:
    """The original looks each minute; ours when its time is over, or when something changes."""
    life = _life("Provisioning", age=given["age_seconds"], seconds=given["timeout_seconds"])
    life.machines[NAME] = machine(state=MachineState(given["provider_status"]))
    life.refuses = {"OpenRemoval"} if given.get("create_removal") == "fails" else set()
    wake_at = life.step()
    looks_again = life.phase == "Provisioning" and wake_at < float("inf")
    return {
        "phase": life.phase,
        "requeue": looks_again,
        "requeue_seconds": 60 if looks_again else None,
        # Machines are deleted in another room, and only by way of a removal.
        "provider_deletes": 0,
    }


@adapts("provisioning_expired")
def provisioning_expired(given: Json) -> Json:
    seconds = given["timeout_seconds"]
    life = _life("Provisioning", age=given["age_seconds"], seconds=seconds)
    life.machines[NAME] = machine(state=MachineState.CREATING)
    life.step()
    return {"expired": life.phase != "Provisioning"}


@adapts("unmet_expired")
def unmet_expired(given: Json) -> Json:
    life = _life("Unmet", age=given["age_seconds"], seconds=given["ttl_seconds"], held=False)
    life.soon()
    return {"expired": life.phase != "Unmet"}


@adapts("seed_request")
def seed_request(given: Json) -> Json:
    match given["phase"]:
        case "Pending":
            return _accepted()
        case "Provisioning":
            return _waiting(is_over=given["wait_over"])
        case "Deprovisioning":
            return _given_back()
        case phase:
            return _finished(phase)


def _accepted() -> Json:
    life = _life("Pending", age=1)
    life.answer = lambda _: Accepted(machine_id="kwok://default-1")
    life.machines[NAME] = machine()
    life.soon()
    is_set = bool(life.get("NodeRequest").status.node_id)
    return {"phase": life.phase, "node_id": "set" if is_set else None}


def _waiting(*, is_over: bool) -> Json:
    life = _life("Provisioning", age=WAIT + 1 if is_over else WAIT - 1)
    life.machines[NAME] = machine(state=MachineState.CREATING)
    life.put(node(ready=False))
    life.step()
    return {"phase": life.phase}


def _given_back() -> Json:
    life = _life("Deprovisioning", age=1)
    life.machines[NAME] = machine(state=MachineState.CREATING)
    life.soon()
    order = [each for each in life.writes if each in {"OpenRemoval", "SetFinalizers", "Delete"}]
    return {
        "removal_request_created": order[:1] == ["OpenRemoval"],
        "deleted": life.phase == "",
    }


def _finished(phase: str) -> Json:
    """The node of a Ready one stays; an offer that was refused may be tried again."""
    life = _life(phase, age=WAIT + 1, held=False)
    life.put(node())
    life.soon()
    known, _ = refusals(Refusals(), life.world(), at(life.now))
    return {
        "deleted": life.phase == "" and life.get("Node") is not None,
        "offering_available_again": not known.standing,
    }


@adapts("restart")
def restarted(given: Json) -> Json:
    """The process ends after some of its creates, and starts again without its memory."""
    size = {"cpu": str(2 / given["pods_per_node"])}
    pods = [waiting(f"web-{number}", requests=size) for number in range(given["pods"])]
    planner = Planner(*pods, pool(serverTypes=[{"name": "small", "max": 100}]), node_class())
    planner.dies_after = list(given["crash_after_creates"])
    planner.until(160)
    assert not planner.dies_after
    return {"requests_after_recovery": len(planner.created)}
