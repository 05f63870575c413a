"""A request that is Pending: the provider is asked for a machine, and its answer decides.

    accepted            Provisioning, with the machine's id
    it has none         Unmet, with the scope of the refusal
    throttled           the request waits as long as the provider says
    transient failure   the request is retried, with a longer pause after each failure in a row
    template, access    the pool becomes blocked, as its status says; then the request is deleted

A request that is no longer needed, or can no longer be bought, is deleted. What the provider may
have created for it is then cleaned up as if a person had deleted it. The provider's answer stays in
the World until the request's status shows it, so a failed write of the status is simply decided
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

import msgspec

from growth.api.noderequest import RequestPhase, UnmetScope
from reconciler.buying.offers import offer_of
from reconciler.buying.templates import node_labels, node_taints
from reconciler.core.actions import CreateMachine, CreateNodeRecord
from reconciler.core.step import WAIT, Step
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.recording import record_of_purchase
from reconciler.providers.port import Accepted, Failed, FailureClass, Order, Throttled, Unmet
from reconciler.provisioning.joining import node_annotations
from reconciler.provisioning.ledger import AskedOf
from reconciler.provisioning.writing import delete_request, happened, moved, warned

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.providers.port import Answered, Offering
    from reconciler.provisioning.ledger import FailedCreates
    from reconciler.provisioning.look import ProvisioningLook

LONGEST_PAUSE: Final = 60.0
"""The most seconds between two tries."""
TOLD_AT: Final = 4
"""After this many failures in a row there is an event."""


def step_while_pending(request: NodeRequest, pool: NodePool, look: ProvisioningLook) -> Step:
    """The step that follows from the last answer, or the next call to the provider."""
    answered = look.world.answers.get(request.name)
    answer = None if answered is None else answered.answer
    # Before anything else: the machine is paid for, and even one that isn't wanted any more is
    # found again by the id that is written here.
    if isinstance(answer, Accepted):
        return _accepted(request, pool, look, machine_id=answer.machine_id)
    if isinstance(answer, Unmet):
        return refused_request(request, look.now, reason=answer.reason, scope=answer.scope)
    unwanted = _unwanted(request, pool, look)
    if unwanted:
        return Step(actions=(delete_request(request),), why=unwanted)
    return _ask(request, pool, look) if answered is None else _again(request, pool, answered, look)


def _unwanted(request: NodeRequest, pool: NodePool, look: ProvisioningLook) -> str:
    """Why the machine should no longer be bought; empty if it should."""
    if pool.metadata.deletion_timestamp is not None:
        return "its pool is being deleted"
    if pool.status.blocked is not None:
        return f"its pool is blocked: {pool.status.blocked.reason}"
    if request.name in look.duplicates:
        return "another machine is coming for its pods"
    if not look.awaiting.awaits(request):
        # This also ends a request that a former leader wrote late, for pods that are served by now.
        return "none of its pods is waiting any more"
    return ""


def _again(
    request: NodeRequest, pool: NodePool, answered: Answered, look: ProvisioningLook
) -> Step:
    retry = look.world.timing.retry
    match answered.answer:
        case Throttled(seconds=seconds):
            return _ask_at(answered.at + seconds, request, pool, look)
        case Failed(failure=FailureClass.TRANSIENT, reason=reason):
            trouble = look.memory.troubles[request.name]
            due = answered.at + pause_after_failures(trouble.count, first=retry)
            return _with_trouble(request, _ask_at(due, request, pool, look), trouble, reason)
        case Failed():
            # After a change of the pool or its class, the answer says nothing about the new state.
            stays = is_current(answered, request, pool, look)
            return WAIT if stays else _ask_at(answered.at + retry, request, pool, look)
        case Accepted() | Unmet():
            return WAIT
        case _:
            assert_never(answered.answer)


def pause_after_failures(failures: int, *, first: float) -> float:
    """Seconds until the next try, after this many failures in a row."""
    return min(LONGEST_PAUSE, first * 2.0 ** min(failures - 1, 10))


def _with_trouble(request: NodeRequest, step: Step, trouble: FailedCreates, reason: str) -> Step:
    if not step.actions or trouble.count != TOLD_AT:
        return step
    note = (
        f"The provider has failed {trouble.count} times in a row: {reason}. growth retries under "
        "the same name; delete the request to have its pods planned again."
    )
    said = warned(request, reason="ProviderTrouble", note=note)
    return msgspec.structs.replace(step, actions=(said, *step.actions))


def _ask_at(at: float, request: NodeRequest, pool: NodePool, look: ProvisioningLook) -> Step:
    return _ask(request, pool, look) if at <= look.now.monotonic else Step(wake_at=at)


def _ask(request: NodeRequest, pool: NodePool, look: ProvisioningLook) -> Step:
    catalogue = look.world.offerings.get(node_class_of(pool, look.world))
    if catalogue is None:
        return WAIT
    offering = offer_of(request.spec, catalogue)
    # A catalogue that could be read is complete: an offer that isn't in it can't be ordered.
    if offering is None:
        place = f"{request.spec.server_type} in {request.spec.location}"
        note = f"{place} is no longer sold: its pods are planned again."
        said = warned(request, reason="NotSold", note=note)
        return Step(actions=(said, delete_request(request)), why="its offer is no longer sold")
    order = _order(request, pool, look, offering=offering)
    return Step(actions=(CreateMachine(order=order),), why="ask the provider for the machine")


def asked_of(pool: NodePool, look: ProvisioningLook) -> AskedOf:
    """The generations of pool and class that a create decided on now refers to."""
    node_class = look.world.node_classes.get(node_class_of(pool, look.world))
    generation = 0 if node_class is None else node_class.metadata.generation
    return AskedOf(look.now.monotonic, pool.metadata.generation, generation)


def is_current(
    answered: Answered, request: NodeRequest, pool: NodePool, look: ProvisioningLook
) -> bool:
    """Whether an answer is about pool and class as they are now."""
    known = look.memory.asked_of.get(request.name)
    now = asked_of(pool, look)
    return known is not None and answered.at >= known.at and known[1:] == now[1:]


def _order(
    request: NodeRequest, pool: NodePool, look: ProvisioningLook, *, offering: Offering
) -> Order:
    return Order(
        name=request.name,
        request_uid=request.metadata.uid,
        pool=pool.name,
        node_class=node_class_of(pool, look.world),
        server_type=offering.server_type,
        location=offering.location,
        own_labels=offering.own_labels,
        labels=node_labels(pool, offering, name=request.name),
        annotations=node_annotations(request, look.now),
        taints=node_taints(pool),
        intended_at=request.metadata.creation_timestamp,
    )


def _accepted(
    request: NodeRequest, pool: NodePool, look: ProvisioningLook, *, machine_id: str
) -> Step:
    """The machine is recorded first: once the request says that it comes, it can be believed."""
    now = look.now
    record = record_of_purchase(
        request, pool, look.world, machine_id=machine_id, bought_at=now.wall
    )
    patch = moved(
        request,
        RequestPhase.PROVISIONING,
        now,
        happened=(happened("nodeRequested", now),),
        node_id=machine_id,
        accepted_at=now.wall,
    )
    is_recorded = request.name in look.world.records
    recording = () if is_recorded else (CreateNodeRecord(record=record),)
    return Step(actions=(*recording, patch), why="the provider accepted")


def refused_request(request: NodeRequest, now: Instant, *, reason: str, scope: UnmetScope) -> Step:
    """The provider has none, or its machine failed: the pods are planned without this offer."""
    patch = moved(
        request,
        RequestPhase.UNMET,
        now,
        happened=(happened("nodeRequestFailed", now, reason=reason),),
        unmet_scope=scope,
    )
    note = (
        f"{request.spec.server_type} in {request.spec.location}: {reason}. Its pods are planned "
        "without it; the pool's status.unmetOffers shows until when."
    )
    said = warned(request, reason="Unmet", note=note)
    return Step(actions=(patch, said), why=f"the provider has none: {reason}")
