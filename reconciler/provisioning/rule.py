"""What happens next with each NodeRequest.

    Pending       the provider is asked, by name; its answer decides
    Provisioning  the node joins and becomes Ready: the start-up taint goes, the request is Ready
    Unmet, Ready  the request has done its work and is deleted after its time to live

The provider's answer stays in the World until the request's status shows it, so a status that could
not be written is decided on again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import msgspec

from growth.api.events import Event, with_event
from growth.api.noderequest import NodeRequestStatus, RequestPhase, UnmetScope
from growth.api.standing import conditions
from growth.api.wellknown import PROVIDER_CLEANUP_FINALIZER
from reconciler.actions import (
    Action,
    CreateMachine,
    Delete,
    PatchStatus,
    Sequence,
    SetFinalizers,
    SetNode,
    Version,
    machine,
)
from reconciler.decision import NEVER, Decision, earliest
from reconciler.planning.offers import asked_for, key_of, node_class_of
from reconciler.planning.templates import UNREGISTERED, node_labels, node_taints
from reconciler.providers.port import (
    Accepted,
    ClassKey,
    Failed,
    Offering,
    Order,
    Throttled,
    Unmet,
)

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.world import World

KIND = "NodeRequest"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done with one request, and when to look again."""

    actions: tuple[Action, ...] = ()
    why: str = ""
    wake_at: float = NEVER


def decide(world: World, now: Instant) -> Decision:
    """One step for each request that is free for one."""
    sequences: list[Sequence] = []
    wakes: list[float] = []
    for name, request in sorted(world.requests.items()):
        subject = machine(name)
        if not world.is_free(subject):
            continue
        step = _step(request, world, now)
        wakes.append(step.wake_at)
        if step.actions:
            sequences.append(Sequence(subject=subject, steps=step.actions, why=step.why))
    return Decision(sequences=tuple(sequences), wake_at=earliest(wakes))


def _step(request: NodeRequest, world: World, now: Instant) -> Step:
    match request.status.phase:
        case RequestPhase.PENDING:
            return _pending(request, world, now)
        case RequestPhase.PROVISIONING:
            return _provisioning(request, world, now)
        case RequestPhase.READY | RequestPhase.UNMET:
            return _finished(request, world, now)
        case RequestPhase.DEPROVISIONING:
            return Step()
        case _:
            assert_never(request.status.phase)


def _pending(request: NodeRequest, world: World, now: Instant) -> Step:
    answered = world.answers.get(request.name)
    if answered is None:
        return _ask(request, world)
    match answered.answer:
        case Accepted(machine_id=machine_id):
            return _accepted(request, machine_id, now)
        case Unmet() as unmet:
            return _unmet(request, unmet, now)
        case Throttled(seconds=seconds):
            return _ask_at(answered.at + seconds, request, world, now)
        case Failed():
            return _ask_at(answered.at + world.timing.retry, request, world, now)
        case _:
            assert_never(answered.answer)


def _ask(request: NodeRequest, world: World) -> Step:
    pool = world.pools.get(request.spec.pool)
    if pool is None:
        return Step()
    key = node_class_of(pool, world)
    offering = _offering(request, world.offerings.get(key, ()))
    if offering is None:
        return Step()
    order = _order(request, world, key=key, offering=offering)
    return Step(actions=(CreateMachine(order=order),), why="ask the provider")


def _ask_at(at: float, request: NodeRequest, world: World, now: Instant) -> Step:
    return _ask(request, world) if at <= now.monotonic else Step(wake_at=at)


def _offering(request: NodeRequest, offerings: tuple[Offering, ...]) -> Offering | None:
    wanted = asked_for(request.spec)
    return next((each for each in offerings if key_of(each) == wanted), None)


def _order(request: NodeRequest, world: World, *, key: ClassKey, offering: Offering) -> Order:
    pool = world.pools[request.spec.pool]
    return Order(
        name=request.name,
        request_uid=request.metadata.uid,
        pool=pool.name,
        node_class=key,
        server_type=offering.server_type,
        location=offering.location,
        own_labels=offering.own_labels,
        labels=node_labels(pool, offering, name=request.name),
        annotations={},
        taints=node_taints(pool),
    )


def _accepted(request: NodeRequest, machine_id: str, now: Instant) -> Step:
    event = Event(at=now.wall, name="nodeRequested")
    status = _moved(request, RequestPhase.PROVISIONING, now, event)
    status = status.model_copy(update={"node_id": machine_id, "accepted_at": now.wall})
    return Step(actions=(_patch(request, status, now),), why="the provider accepted")


def _unmet(request: NodeRequest, answer: Unmet, now: Instant) -> Step:
    event = Event(at=now.wall, name="nodeRequestFailed", reason=answer.reason)
    status = _moved(request, RequestPhase.UNMET, now, event)
    status = status.model_copy(update={"unmet_scope": UnmetScope(answer.scope.value)})
    actions = (_patch(request, status, now),)
    return Step(actions=actions, why=f"the provider has none: {answer.reason}")


def _provisioning(request: NodeRequest, world: World, now: Instant) -> Step:
    node = world.cluster.nodes.get(request.name)
    if node is None or not node.is_ready:
        return Step()
    taints = tuple(taint for taint in node.spec.taints if taint.key != UNREGISTERED.key)
    if len(taints) < len(node.spec.taints):
        actions = (SetNode(node=_version_of(node), taints=taints),)
        return Step(actions=actions, why="the node is Ready: its start-up taint goes")
    joined = Event(at=now.wall, name="nodeProvisioned")
    labelled = Event(at=now.wall, name="nodeLabelled")
    status = _moved(request, RequestPhase.READY, now, joined, labelled)
    status = status.model_copy(update={"node_name": node.name, "ready_at": now.wall})
    return Step(actions=(_patch(request, status, now),), why="the node serves")


def _finished(request: NodeRequest, world: World, now: Instant) -> Step:
    """Its finalizer goes at once, since nothing hangs on the object any more; then, in time, it."""
    if PROVIDER_CLEANUP_FINALIZER in request.metadata.finalizers:
        return Step(actions=(_let_go(request),), why="nothing hangs on the request any more")
    left = _seconds_left(request, world, now)
    if left >= 0:
        return Step(wake_at=now.monotonic + left)
    delete = Delete(kind=KIND, version=_version(request))
    return Step(actions=(delete,), why="its time to live is over")


def _let_go(request: NodeRequest) -> SetFinalizers:
    others = (each for each in request.metadata.finalizers if each != PROVIDER_CLEANUP_FINALIZER)
    return SetFinalizers(kind=KIND, version=_version(request), finalizers=tuple(others))


def _seconds_left(request: NodeRequest, world: World, now: Instant) -> float:
    pool = world.pools.get(request.spec.pool)
    since = request.status.last_transition_time
    if pool is None or since is None:
        return 0.0
    ttl = pool.spec.request_ttl
    ready = request.status.phase is RequestPhase.READY
    return (ttl.ready if ready else ttl.unmet).seconds - now.seconds_since(since)


def _moved(
    request: NodeRequest, phase: RequestPhase, now: Instant, *happened: Event
) -> NodeRequestStatus:
    events = request.status.events
    for event in happened:
        events = with_event(events, event)
    return request.status.model_copy(
        update={
            "phase": phase,
            "events": events,
            "last_transition_time": now.wall,
            "observed_generation": request.metadata.generation,
        }
    )


def _patch(request: NodeRequest, status: NodeRequestStatus, now: Instant) -> PatchStatus:
    after = request.model_copy(update={"status": status})
    stands = status.model_copy(update={"conditions": conditions(after, now.wall)})
    return PatchStatus(kind=KIND, version=_version(request), status=stands.document())


def _version(request: NodeRequest) -> Version:
    metadata = request.metadata
    return Version(name=request.name, uid=metadata.uid, resource_version=metadata.resource_version)


def _version_of(node: Node) -> Version:
    metadata = node.metadata
    return Version(name=node.name, uid=metadata.uid, resource_version=metadata.resource_version)
