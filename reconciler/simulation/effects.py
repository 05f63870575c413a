"""The effects of a simulated process; sequences are handled as in `effects.carrying_out`.

A subject is busy while its sequence runs, and for a while after a failure. Steps run one after
another, the first failure ends the sequence, and each step is announced before and after. Calls and
answers take time, and a call that is on its way when the process ends still arrives.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, assert_never

import msgspec

from growth.errors import DecideAgain, GrowthError, RetryLater
from growth.kube.backoff import Backoff
from growth.kube.cache.own_writes import Deleted, OwnCreate, OwnWrite, Unseen
from growth.kube.cache.resource import Key
from growth.kube.errors import AlreadyExists, NotFound, Overloaded, Unreachable
from growth.scheduling.emptiness import keepers, left_on
from growth.scheduling.pod import Pod
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
from reconciler.effects.carrying_out import FIRST_PAUSE
from reconciler.effects.eviction import EvictionRefusal, evicted
from reconciler.effects.heard import REQUESTS, Heard
from reconciler.effects.points import Point, Side, point
from reconciler.providers.port import (
    Answered,
    CreateAnswer,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    GivenBack,
    Occupied,
)
from reconciler.simulation.deletion_cost import write_deletion_cost
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.nominating import write_nomination
from reconciler.simulation.patches import set_node, with_status
from reconciler.simulation.server import Precondition, with_metadata
from reconciler.simulation.solves import SimulatedSolver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.api.meta import CustomResource
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.core.actions import Sequence, Subject
    from reconciler.providers.port import Machine
    from reconciler.simulation.caches import Cache
    from reconciler.simulation.chance import Chance
    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.surroundings import Surroundings

ONE_WAY = (0.001, 0.004)
"""Seconds to the API server, or back."""
TO_THE_CLOUD = (0.05, 0.2)
TROUBLE = 0.1
"""The share of calls that fail if a kind of fault is enabled."""

Write = (
    CreateNodeRequest
    | CreateNodeRecord
    | OpenRemoval
    | SetNode
    | PatchStatus
    | SetFinalizers
    | Delete
)
"""The actions that write objects."""


class Result(msgspec.Struct, frozen=True):
    """The result of a step: a written object, an answer of the provider, or an error."""

    written: tuple[str, Key, Unseen] | None = None
    answer: CreateAnswer | None = None
    deletion: DeleteAnswer | Occupied | None = None
    in_the_way: tuple[Pod, ...] = ()
    """The pods that the last look has found."""
    refusal: EvictionRefusal | None = None
    plan: Solved | None = None
    error: GrowthError | None = None
    is_adopted: bool = False
    """Whether a create found an existing object of an earlier one."""


class EffectsOwner(Protocol):
    """The process that owns the effects."""

    leads: bool
    """Whether it may act, as far as it knows."""

    def arrive(self, action: Callable[..., None], *arguments: Any) -> None:
        """Deliver something to the process."""

    def now(self) -> Instant:
        """The current time on both clocks."""

    def wake(self) -> None:
        """Run a pass soon, because something has changed."""

    def announce(self, point: Point) -> None:
        """Announce that an effect begins or has happened."""


class SimulatedEffects:
    """The only writer of a simulated process."""

    def __init__(
        self,
        around: Surroundings,
        cloud: SimulatedCloud,
        *,
        caches: Mapping[str, Cache],
        chance: Chance,
        owner: EffectsOwner,
    ) -> None:
        self.running: set[Subject] = set()
        self.heard = Heard()
        self.backoffs: dict[Subject, Backoff] = {}
        self._server = around.server
        self._faults = around.faults
        self._solver = SimulatedSolver(around.faults)
        self._timeline = around.timeline
        self._cloud = cloud
        self._caches = caches
        self._chance = chance
        self._owner = owner
        self._number = 0

    def start(self, sequence: Sequence) -> None:
        """Start a sequence."""
        if sequence.subject in self.running:
            raise RuntimeError(f"{sequence.subject} is being worked on already")
        self.running.add(sequence.subject)
        self._timeline.after(0.0, self._owner.arrive, self._step, sequence, 0)

    def may_act(self) -> bool:
        """Whether the process still holds the Lease; checked right before each step."""
        return self._owner.leads

    def _step(self, sequence: Sequence, index: int) -> None:
        if index == len(sequence.steps):
            self.backoffs.pop(sequence.subject, None)
            self._free(sequence.subject)
            return
        # The subject stays busy: a process that has lost the Lease decides on nothing any more.
        if not self.may_act():
            return
        self._number += 1
        here = point(
            sequence.steps[index],
            number=self._number,
            subject=sequence.subject,
            side=Side.BEFORE,
        )
        self._owner.announce(here)
        # A process that ended at the announcement sends nothing.
        self._owner.arrive(self._send, sequence, index, here)

    def _send(self, sequence: Sequence, index: int, here: Point) -> None:
        action = sequence.steps[index]
        far = isinstance(action, CreateMachine | DeleteMachine)
        way = self._chance.between(*(TO_THE_CLOUD if far else ONE_WAY))
        way += self._solver.seconds(action)
        self._timeline.after(way, self._reached, sequence, index, here)

    def _reached(self, sequence: Sequence, index: int, here: Point) -> None:
        """Carry out the step at the other side, even if the process has ended meanwhile."""
        result = self._carried_out(sequence.steps[index])
        way = self._chance.between(*ONE_WAY)
        self._timeline.after(way, self._owner.arrive, self._answered, sequence, index, here, result)

    def _answered(self, sequence: Sequence, index: int, here: Point, result: Result) -> None:
        action = sequence.steps[index]
        if result.error is not None:
            self._failed(action, sequence.subject, result.error)
            return
        if result.written is not None:
            kind, key, write = result.written
            cache = self._caches[kind]
            cache.note(key, write)
            if result.is_adopted and cache.is_overtaken(key):
                hidden = RetryLater(f"{kind} {key.name} exists, and the cache doesn't show it")
                self._failed(action, sequence.subject, hidden)
                return
        self._remember(action, result)
        self._owner.announce(after_effect(here))
        self._owner.arrive(self._step, sequence, index + 1)

    def _remember(self, action: Action, result: Result) -> None:
        heard = self.heard
        if isinstance(action, PatchStatus | Delete | SetFinalizers):
            heard.forget(action)
        if isinstance(action, CreateMachine) and result.answer is not None:
            heard.answers[action.order.name] = Answered(at=self._timeline.now, answer=result.answer)
        if isinstance(action, DeleteMachine) and result.deletion is not None:
            given = GivenBack(at=self._timeline.now, answer=result.deletion)
            heard.deletions[action.machine.name] = given
            if any(map(self._caches["pods"].has_missed, result.in_the_way)):
                self._caches["pods"].relist()
        if isinstance(action, Evict):
            pods, now = self._caches["pods"].objects, self._owner.now()
            heard.evictions = evicted(heard.evictions, action, result.refusal, now=now, pods=pods)
        if isinstance(action, Solve) and result.plan is not None:
            heard.plans[action.lane] = result.plan

    def _failed(self, action: Action, subject: Subject, error: GrowthError) -> None:
        if isinstance(error, DecideAgain) and self._is_outdated(action):
            self._free(subject)
            return
        backoff = self.backoffs.setdefault(subject, Backoff(chance=self._chance, first=FIRST_PAUSE))
        asked = error.after if isinstance(error, RetryLater) else None
        pause = backoff.after_failure(asked=asked)
        self._timeline.after(pause, self._owner.arrive, self._free, subject)

    def _is_outdated(self, action: Action) -> bool:
        """Whether the cache has a newer state by now, so that deciding again makes sense."""
        found = decided_on(action)
        if found is None:
            return isinstance(action, Solve)
        kind, version = found
        known = self._caches[kind].objects.get(Key("", version.name))
        return known is None or known.metadata.resource_version != version.resource_version

    def _free(self, subject: Subject) -> None:
        self.running.discard(subject)
        self._owner.wake()

    def _carried_out(self, action: Action) -> Result:
        match action:
            case EmitEvent():
                # Events aren't simulated, because nothing may depend on them.
                return Result()
            case Solve():
                solved = self._solver.answer(action)
                return Result(plan=solved) if isinstance(solved, Solved) else Result(error=solved)
            case CreateMachine():
                return Result(answer=self._asked(action))
            case DeleteMachine(machine=machine):
                return self._given_back(machine)
            case _:
                return self._troubled(action)

    def _troubled(self, action: Write | Evict | HoldSeat | SetDeletionCost) -> Result:
        """Ask the API server, with the faults that can happen on the way there and back."""
        if self._faults.strikes(SimulatedFault.SERVER_ERROR, TROUBLE):
            return Result(error=Overloaded("the server is busy"))
        try:
            result = self._served(action)
        except GrowthError as error:
            return Result(error=error)
        if self._faults.strikes(SimulatedFault.LOST_ANSWER, TROUBLE):
            return Result(error=Unreachable("no answer came"))
        return result

    def _served(self, action: Write | Evict | HoldSeat | SetDeletionCost) -> Result:
        match action:
            case Evict():
                return self._evict(action)
            case HoldSeat():
                return self._hold_seat(action)
            case SetDeletionCost():
                write_deletion_cost(self._server, action)
                return Result()
            case _:
                return self._write(action)

    def _asked(self, action: CreateMachine) -> CreateAnswer:
        answer = self._cloud.create(action.order)
        if self._faults.strikes(SimulatedFault.CLOUD_LOST_ANSWER, TROUBLE):
            return Failed(failure=FailureClass.TRANSIENT, reason="no answer came")
        return answer

    def pods_in_the_way(self, name: str) -> tuple[Pod, ...]:
        """The last look: the pods that the server itself has on a node."""
        pods = self._server.kind("pods").objects.values()
        kept = keepers(pod for pod in pods if pod.spec.node_name == name)
        node = self._server.kind("nodes").named(name)
        if node is not None:
            kept = left_on(kept, self._owner.now(), node_is_ready=node.is_ready)
        return tuple(sorted(kept, key=lambda pod: pod.name))

    def _given_back(self, machine: Machine) -> Result:
        if pods := self.pods_in_the_way(machine.name):
            occupied = Occupied(pods=tuple(pod.name for pod in pods))
            return Result(deletion=occupied, in_the_way=pods)
        answer = self._cloud.delete(machine)
        if self._faults.strikes(SimulatedFault.CLOUD_LOST_ANSWER, TROUBLE):
            answer = DeleteAnswer(outcome=DeleteOutcome.FAILED, reason="no answer came")
        return Result(deletion=answer)

    def _evict(self, action: Evict) -> Result:
        return Result(refusal=self._server.evict(action))

    def _hold_seat(self, action: HoldSeat) -> Result:
        write_nomination(self._server, action)
        return Result()

    def _write(self, action: Write) -> Result:
        match action:
            case CreateNodeRequest(request=request):
                return self._create(request)
            case CreateNodeRecord(record=resource) | OpenRemoval(removal=resource):
                return self._put(type(resource).__name__, resource)
            case SetNode(node=version):
                return self._change(NODES, version, lambda node: set_node(node, action))
            case PatchStatus(kind=kind, version=version, status=status):
                return self._change(kind, version, lambda obj: with_status(obj, status))
            case SetFinalizers(kind=kind, version=version, finalizers=held):
                return self._change(kind, version, lambda obj: with_metadata(obj, finalizers=held))
            case Delete(kind=kind, version=version):
                return self._delete(kind, version)
            case _:
                assert_never(action)

    def _create(self, request: NodeRequest) -> Result:
        if not self._is_bought_once(request):
            return Result(error=RetryLater(f"{request.name}: its pods wait no longer"))
        return self._put(REQUESTS, request)

    def _put(self, kind: str, resource: CustomResource) -> Result:
        key = Key("", resource.metadata.name)
        try:
            made = self._server.create(kind, resource)
        except AlreadyExists:
            found = self._server.kind(kind).objects[key]
            return Result((kind, key, there(found)), is_adopted=True)
        return Result((kind, key, there(made)))

    def _is_bought_once(self, request: NodeRequest) -> bool:
        """Check at the server that pods which already had a machine still need one."""
        known = self._caches[REQUESTS].objects.values()
        others = {pod.uid for each in known if each.name != request.name for pod in each.spec.pods}
        pods = self._server.kind("pods").objects
        found = (
            pods.get(Key(pod.namespace, pod.name)) for pod in request.spec.pods if pod.uid in others
        )
        return all(pod is not None and not pod.spec.node_name for pod in found)

    def _change(self, kind: str, version: Version, changed: Callable[[Any], Any]) -> Result:
        key = Key("", version.name)
        made = self._server.change(kind, key, changed, on=on(version))
        return Result((kind, key, confirmed_state(made)))

    def _delete(self, kind: str, version: Version) -> Result:
        key = Key("", version.name)
        with suppress(NotFound):
            self._server.delete(kind, key, on=on(version))
        return Result((kind, key, Deleted(uid=version.uid, version=version.resource_version)))


def after_effect(here: Point) -> Point:
    """The same point, after the effect."""
    return msgspec.structs.replace(here, side=Side.AFTER)


def on(version: Version) -> Precondition:
    """The precondition of a write."""
    return Precondition(uid=version.uid, version=version.resource_version)


def confirmed_state(obj: Any) -> OwnWrite:
    """The state that the server has confirmed."""
    return OwnWrite(uid=obj.metadata.uid, version=obj.metadata.resource_version)


def there(obj: Any) -> OwnCreate:
    """An object that the server has created or found."""
    return OwnCreate(uid=obj.metadata.uid, version=obj.metadata.resource_version)
