"""Carries out what was decided, and nothing else.

Each sequence is a task. Its steps run one after the other, and the first failure ends it, because
the next steps were decided on a state that has changed. A subject is busy from the start of its
sequence until the sequence has ended and the cache shows what it wrote. Leadership is checked
before each call that costs money.

Every effect is announced before and after it happens, which is where tests end the process.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

import structlog

from growth.errors import DecideAgain, GrowthError, RetryLater
from growth.kube.backoff import Backoff
from growth.kube.cache.resource import Key
from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.writes import Decided, Writes
from reconciler.core.actions import (
    NODES,
    Action,
    CreateMachine,
    CreateNodeRecord,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    EmitEvent,
    Evict,
    HoldSeat,
    OpenRemoval,
    PatchStatus,
    SetDeletionCost,
    SetFinalizers,
    SetNode,
    Solve,
    Solved,
    Version,
    decided_on,
)
from reconciler.effects.crashing import Crashing
from reconciler.effects.deletion_cost import set_deletion_cost
from reconciler.effects.eviction import evict, evicted, pod_is_gone
from reconciler.effects.heard import Heard
from reconciler.effects.holding import hold_seat
from reconciler.effects.last_look import check_waiting, pods_in_the_way
from reconciler.effects.points import Point, Side, point
from reconciler.effects.stopping import Stopped
from reconciler.providers.port import (
    Answered,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    GivenBack,
    Occupied,
)
from reconciler.seeing.sources import BY_POD

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random

    from growth.api.meta import CustomResource
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.kube.election import Leadership
    from growth.kube.events import Event
    from growth.kube.transport import Connection
    from growth.scheduling.taints import Taint
    from reconciler.core.actions import Sequence, Subject
    from reconciler.providers.port import ClassKey, Machine, Order, Provider
    from reconciler.seeing.sources import ReconcilerSources
    from reconciler.solver import Plan, Renewed

_log = structlog.get_logger(__name__)

PODS = "pods"
FIRST_PAUSE = 0.1
"""Seconds after a first failure; each further one in a row doubles it."""
LOOKS = 10
LOOK_AGAIN_AFTER = 0.005
"""Seconds between two checks whether the cache has caught up with someone else's write."""
REMEMBERED_FAILURES = 1000
"""How many failing subjects are remembered; those that disappear are forgotten over time."""


class Outdated(DecideAgain):
    """The object has changed since, and the cache shows it: decide again without a wait."""


@dataclass(kw_only=True)
class Effects:
    """The only writer of this process."""

    connection: Connection
    sources: ReconcilerSources
    provider_of: Callable[[ClassKey], Provider | None]
    leadership: Leadership
    now: Callable[[], Instant]
    ended: Callable[[], None]
    """Called whenever a subject is free again."""
    tasks: asyncio.TaskGroup
    chance: Random
    plan: Callable[[Solve], Awaitable[Plan | Renewed]]
    """Solves questions in another process, because they take long."""
    may_write: Callable[[], None] = lambda: None
    """Raises `Stopped` if nothing may be written any more, even by sequences that have begun."""
    say: Callable[[Event], None] = lambda _: None
    announce: Callable[[Point], None] = lambda _: None
    heard: Heard = field(default_factory=Heard)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._running: set[Subject] = set()
        self._backoffs: dict[Subject, Backoff] = {}
        self._crashing = Crashing(self.heard.crashes, chance=self.chance)

    @property
    def subjects(self) -> frozenset[Subject]:
        """The subjects of sequences in progress."""
        return frozenset(self._running)

    def start(self, sequence: Sequence) -> None:
        """Begins a sequence; the caller makes sure that its subject is free."""
        if sequence.subject in self._running:
            raise RuntimeError(f"{sequence.subject} is being worked on already")
        self._running.add(sequence.subject)
        self.tasks.create_task(self._guarded(sequence), name=f"effects on {sequence.subject}")

    async def _guarded(self, sequence: Sequence) -> None:
        try:
            for step in sequence.steps:
                await self._announced(step, sequence)
            self._backoffs.pop(sequence.subject, None)
            self._crashing.succeeded(sequence)
        except Outdated as changed:
            _log.debug("decided on an old state", subject=sequence.subject.name, why=str(changed))
        except Stopped as stopped:
            _log.warning("not carried out", subject=sequence.subject.name, why=str(stopped))
        except GrowthError as error:
            await self._rest(sequence, str(error), asked=pause_asked_for(error))
        except Exception as error:  # noqa: BLE001 - one subject must not end what all others need
            crash = self._crashing.note(sequence.subject, error, now=self.now().monotonic)
            await self._rest(sequence, crash.why)
        finally:
            self._running.discard(sequence.subject)
            self.ended()

    async def _rest(self, sequence: Sequence, error: str, *, asked: float | None = None) -> None:
        """Keeps the subject busy for a while, so that a failure isn't retried at once."""
        pause = self._backoff(sequence.subject).after_failure(asked=asked)
        subject = sequence.subject.name
        _log.warning("step failed", subject=subject, error=error, seconds=round(pause, 1))
        await asyncio.sleep(pause)

    def _backoff(self, subject: Subject) -> Backoff:
        if len(self._backoffs) > REMEMBERED_FAILURES:
            del self._backoffs[next(iter(self._backoffs))]
        return self._backoffs.setdefault(subject, Backoff(chance=self.chance, first=FIRST_PAUSE))

    async def _announced(self, action: Action, sequence: Sequence) -> None:
        number, subject = next(self._numbers), sequence.subject
        self.announce(point(action, number=number, subject=subject, side=Side.BEFORE))
        # Also what costs nothing: a request that a deposed leader writes is bought by the next one.
        self._check_may_write()
        try:
            await self._carry_out(action)
        except DecideAgain as error:
            if await self._moves_on(action):
                raise Outdated(str(error)) from error
            raise
        self.announce(point(action, number=number, subject=subject, side=Side.AFTER))

    def _check_may_write(self) -> None:
        self.may_write()
        self.leadership.check()

    async def _moves_on(self, action: Action) -> bool:
        """Whether the cache shows another state; the event that tells it is often on its way."""
        for _ in range(LOOKS):
            if self._has_moved_on(action):
                return True
            await asyncio.sleep(LOOK_AGAIN_AFTER)
        return self._has_moved_on(action)

    def _has_moved_on(self, action: Action) -> bool:
        """Whether the cache shows another state by now, so that it makes sense to decide again.

        A cache that still shows what was decided on would give the same decision at once, for as
        long as it lags.
        """
        decided = decided_on(action)
        if decided is None:
            # A question that was stopped may be asked again at once.
            return isinstance(action, Solve)
        kind, version = decided
        known = self.sources.store(kind).get(version.name)
        return known is None or known.metadata.resource_version != version.resource_version

    async def _carry_out(self, action: Action) -> None:
        match action:
            case CreateNodeRequest(request=request):
                await self._check_bought_once(request)
                await self._create(request)
            case CreateNodeRecord(record=resource) | OpenRemoval(removal=resource):
                await self._create(resource)
            case CreateMachine() | DeleteMachine() | Evict() | HoldSeat() | SetDeletionCost():
                await self._ask(action)
            case SetNode():
                await self._set_node(action)
            case PatchStatus():
                await self._patch_status(action)
            case SetFinalizers():
                await self._set_finalizers(action)
            case Delete():
                await self._delete(action)
            case EmitEvent(event=event):
                self.say(event)
            case Solve(lane=lane, number=number):
                self.heard.plans[lane] = Solved(number=number, plan=await self.plan(action))
            case _:
                assert_never(action)

    async def _check_bought_once(self, request: NodeRequest) -> None:
        """Reads pods that were bought for before: they may be bound without the cache showing it.

        A cache that lags says nothing of it, and a second machine costs more than a question.
        """
        requests = self.sources.store(type(request).__name__)
        for pod in request.spec.pods:
            if any(key.name != request.name for key in requests.by(BY_POD, pod.uid)):
                await check_waiting(self.connection, pod)

    async def _create(self, resource: CustomResource) -> None:
        kind, key = type(resource).__name__, Key("", resource.metadata.name)
        try:
            await self._writes(kind).create(resource.document())
        except AlreadyExists:
            # An earlier try whose answer was lost: no one else uses growth's names.
            await self._writes(kind).adopt(key)
            if self.sources.store(kind).own.is_overtaken(key):
                # Unreadable, or its event was never told. It counts as bought until a list that
                # begins now has come; where that doesn't show it, deciding again gives the same.
                raise RetryLater(
                    f"{kind} {key.name} exists, but the cache doesn't show it"
                ) from None

    async def _ask(
        self, action: CreateMachine | DeleteMachine | Evict | HoldSeat | SetDeletionCost
    ) -> None:
        match action:
            case CreateMachine(order=order):
                provider = self.provider_of(order.node_class)
                if provider is not None:
                    await self._create_machine(provider, order)
            case DeleteMachine(node_class=node_class, machine=machine):
                provider = self.provider_of(node_class)
                if provider is not None:
                    await self._delete_machine(provider, machine)
            case Evict():
                await self._evict(action)
            case HoldSeat():
                await hold_seat(self.connection, action)
            case SetDeletionCost():
                await set_deletion_cost(self.connection, action)
            case _:
                assert_never(action)

    async def _create_machine(self, provider: Provider, order: Order) -> None:
        try:
            answer = await provider.create(order)
        except GrowthError as error:
            # Whether there is a machine now isn't known. The request stays Pending, and the next
            # order under its name finds the machine if there is one.
            answer = Failed(failure=FailureClass.TRANSIENT, reason=str(error))
        self.heard.answers[order.name] = Answered(at=self.now().monotonic, answer=answer)

    async def _delete_machine(self, provider: Provider, machine: Machine) -> None:
        pods = await pods_in_the_way(self.connection, machine.name, self.now())
        # The look can take seconds in which the Lease is lost.
        self._check_may_write()
        if any(map(self.sources.store(PODS).has_missed, pods)):
            # A drain would wait for pods that it doesn't see until the next list, which comes
            # after more than half an hour.
            self.sources.relist(PODS)
        names = tuple(pod.name for pod in pods)
        answer = Occupied(pods=names) if pods else await _deleted(provider, machine)
        self.heard.deletions[machine.name] = GivenBack(at=self.now().monotonic, answer=answer)

    async def _set_node(self, action: SetNode) -> None:
        metadata: dict[str, Any] = {}
        if action.labels:
            metadata["labels"] = dict(action.labels)
        if action.annotations:
            metadata["annotations"] = dict(action.annotations)
        spec: dict[str, Any] = {}
        if action.taints is not None:
            # A merge patch replaces the whole list. Only the version that goes with it keeps it
            # from undoing a taint that someone else has set meanwhile.
            spec["taints"] = _written(action.taints)
        if action.unschedulable is not None:
            spec["unschedulable"] = action.unschedulable or None
        patch = {"metadata": metadata, "spec": spec}
        await self._writes(NODES).merge(_decided(action.node), patch)

    async def _evict(self, action: Evict) -> None:
        before = self.heard.evictions.get(action.uid)
        # It was told to go and is still shown: either it takes its time, or the event of its end
        # was lost.
        if before is not None and not before.refused:
            await self._check_its_end_was_told(action)
        self._check_may_write()
        refused = await evict(self.connection, action)
        pods, now = self.sources.store(PODS).objects, self.now()
        self.heard.evictions = evicted(self.heard.evictions, action, refused, now=now, pods=pods)

    async def _check_its_end_was_told(self, pod: Evict) -> None:
        """Checks a pod that was evicted but is still in the cache: its event may be lost.

        Its drain would wait until the next list, which comes after more than half an hour.
        """
        if await pod_is_gone(self.connection, pod):
            self.sources.relist(PODS)

    async def _patch_status(self, action: PatchStatus) -> None:
        await self._writes(action.kind).merge(
            _decided(action.version), {"status": action.status}, subresource="status"
        )
        self.heard.forget(action)

    async def _set_finalizers(self, action: SetFinalizers) -> None:
        patch = {"metadata": {"finalizers": list(action.finalizers)}}
        writes = self._writes(action.kind)
        try:
            await writes.merge(_decided(action.version), patch)
        except NotFound:
            # Its finalizer was removed and it is gone; the cache will get that event soon.
            writes.gone(_decided(action.version))
        self.heard.forget(action)

    async def _delete(self, action: Delete) -> None:
        writes = self._writes(action.kind)
        try:
            await writes.delete(_decided(action.version))
        except NotFound:
            # It is gone already, which the cache has to learn before anything is decided again.
            writes.gone(_decided(action.version))
        self.heard.forget(action)

    def _writes(self, kind: str) -> Writes:
        store = self.sources.store(kind)
        return Writes(self.connection, path=store.resource.path, noted=store.own)


def pause_asked_for(error: GrowthError) -> float | None:
    """The seconds that a server asks to wait before the next try."""
    return error.after if isinstance(error, RetryLater) else None


async def _deleted(provider: Provider, machine: Machine) -> DeleteAnswer:
    try:
        return await provider.delete(machine)
    except GrowthError as error:
        return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=str(error))


def _decided(version: Version) -> Decided:
    return Decided(Key("", version.name), version.uid, version.resource_version)


def _written(taints: tuple[Taint, ...]) -> list[dict[str, str]] | None:
    """Taints in the form of the API; an empty list is written by removing the field."""
    return [
        {"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in taints
    ] or None
