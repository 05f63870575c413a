"""The life of a NodeRequest: what the provider says, what becomes of it, and when it is deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from growth.api.noderequest import UnmetScope
from growth.errors import RetryLater
from growth.kube.call import Call
from growth.kube.errors import Status, error_of
from reconciler.buying.refusals import Refusals, refusals
from reconciler.providers.port import Accepted, Failed, FailureClass, MachineState, Unmet
from tests.planning.driver import Planner
from tests.provisioning.build import NAME, STARTS_AT, Life, machine, made_at, node, settled
from tests.reconciler.build import START, at, node_class, pool, waiting
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from growth.api.events import RequestEvent
    from reconciler.providers.port import CreateAnswer
    from tests.vectors.rows import Json

WAIT = 60.0
"""Seconds of readinessWait, and of both times to live, where a row doesn't say."""
ANSWERS: dict[str, CreateAnswer] = {
    "accepted": Accepted(machine_id="kwok://default-1"),
    "error": Failed(failure=FailureClass.TRANSIENT, reason="no answer came"),
    "no capacity": Unmet(reason="No capacity", scope=UnmetScope.OFFER),
}
"""What the cloud says to an order, as rows call it."""


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
    if "pool_get" in given:
        return _without_pool(given)
    life = _life(given["phase"], age=given["age_seconds"], seconds=given["timeout_seconds"])
    state = given["provider_status"]
    life.sees = state != "error"
    if state == "NotFound":
        # One listing is no proof.
        life.until(life.now + 3)
    elif life.sees:
        # The reference knows one failure after acceptance: the provider has none of the offer.
        scope = UnmetScope.OFFER if state == MachineState.FAILED else None
        life.machines[NAME] = machine(state=MachineState(state), scope=scope)
    life.refuses = {"OpenRemoval"} if given.get("create_removal") == "fails" else set()
    wake_at = life.step()
    looks_again = life.phase == "Provisioning" and wake_at < float("inf")
    return {
        "phase": life.phase,
        "requeue": looks_again,
        "requeue_seconds": 60 if looks_again else None,
        "removal_request_created": life.get("NodeRemovalRequest") is not None,
        # Machines are deleted in another room, and only by way of a removal.
        "provider_deletes": 0,
    }


def _without_pool(given: Json) -> Json:
    """Its pool can't be read, or isn't there: nothing is bought for it in either case."""
    call = Call(method="GET", path="/apis/growth.dev/v1alpha1/nodepools/default")
    error = error_of(call, code=int(given["pool_get"]), said=Status(), headers={})
    life = _life(given["phase"], age=1)
    life.drop("NodePool", "default")
    life.soon()
    assert not life.orders
    return {"error": isinstance(error, RetryLater), "phase": life.phase}


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
    life.at_once()
    return {"expired": life.phase != "Unmet"}


@adapts("seed_request")
def seed_request(given: Json) -> Json:
    phase = given["phase"]
    is_over = given.get("ttl_over", given.get("wait_over", False))
    is_finished = phase in {"Ready", "Unmet"}
    life = _life(phase, age=WAIT + 1 if is_over else WAIT - 1, held=not is_finished)
    if "provider_create" in given:
        life.answer = lambda _: ANSWERS[given["provider_create"]]
    if phase != "Unmet":
        life.machines[NAME] = machine(state=MachineState.CREATING)
    if "node_ready" in given:
        life.put(node(ready=given["node_ready"]))
    if given.get("wait_over"):
        # One pass: the next one gives back what is late, and the row tells of the first.
        life.step()
    else:
        life.soon()
    return _told(life)


def _told(life: Life) -> Json:
    """What is there of the request, and what has come of it."""
    made = life.get("NodeRequest")
    known, _ = refusals(Refusals(), life.world(), at(life.now))
    answer: Json = {
        "deleted": made is None,
        "removal_request_created": life.get("NodeRemovalRequest") is not None,
        "offering_excluded_from_solver": bool(known.standing),
        "offering_available_again": not known.standing,
    }
    if made is None:
        return answer
    unmet = life.get("NodePool", "default").status.unmet_offers
    events = [_event(each) for each in made.status.events]
    return answer | {
        "phase": made.status.phase.value,
        "node_id": "set" if made.status.node_id else None,
        "ttl": "set" if any(each.until > at(life.now).wall for each in unmet) else None,
        "event": events[-1] if events else None,
        "events": [each["name"] for each in events],
    }


def _event(event: RequestEvent) -> Json:
    told = {"name": event.name, "reason": event.reason}
    return {key: text for key, text in told.items() if text}


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
