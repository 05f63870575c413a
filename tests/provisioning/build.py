"""Provisioning and what pools say of it, over time; tests play the cloud.

What they decide happens at once.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.scheduling.metadata import ObservedCondition
from reconciler import pools, provisioning
from reconciler.brakes.trust import Trust
from reconciler.core.actions import (
    CreateMachine,
    CreateNodeRecord,
    Delete,
    EmitEvent,
    HoldSeat,
    OpenRemoval,
    PatchStatus,
    SetFinalizers,
    SetNode,
)
from reconciler.core.actions import machine as subject
from reconciler.facts.sighted_clock import sighted_clock
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.providers.port import Answered, CreateAnswer, Machine, Order, Sight
from reconciler.simulation.nominating import nominated_to
from tests.reconciler.build import RELEASED, START, at, node_class, pool, request, world
from tests.removal.build import CLOUD, listing, machine
from tests.scheduling import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action, Version
    from reconciler.core.world import World

NAME = "default-1"
HELD = ["growth.dev/provider-cleanup"]
UNREGISTERED = {"key": "growth.dev/unregistered", "effect": "NoSchedule"}
STARTS_AT = 100.0


def settled(name: str = "default", /, *, status: Any = None, **spec: Any) -> NodePool:
    """A pool that is held already."""
    made = held(pool(name, **spec))
    return made.model_copy(update={"status": type(made.status).model_validate(status or {})})


def held(made: NodePool) -> NodePool:
    """As growth holds it."""
    metadata = made.metadata.model_copy(update={"finalizers": tuple(HELD), "generation": 1})
    return made.model_copy(update={"metadata": metadata})


def made_at(seconds: float, name: str = NAME, /, **fields: Any) -> NodeRequest:
    """A request that was created at a moment."""
    made = request(name, **fields)
    stamp = {"creation_timestamp": START + timedelta(seconds=seconds)}
    return made.model_copy(update={"metadata": made.metadata.model_copy(update=stamp)})


def node(
    name: str = NAME, /, *, ready: bool = True, annotations: Any = None, **fields: Any
) -> Node:
    """A node as its kubelet has registered it, with our taint."""
    made = build.node(name, **({"taints": [UNREGISTERED]} | fields))
    conditions = (ObservedCondition(type="Ready", status="True"),) if ready else ()
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(made.metadata, annotations=annotations or {}),
        status=msgspec.structs.replace(made.status, conditions=conditions),
    )


class Life:
    """Requests, their pools, nodes and machines; tests change them between two spans of time."""

    def __init__(self, *objects: Any) -> None:
        self.now = STARTS_AT
        self.jump = 0.0
        """Seconds that somebody has moved the clock on the wall by."""
        self.orders: list[Order] = []
        self.events: list[tuple[str, str, str]] = []
        """Kind of the object, reason and note of each."""
        self.writes: list[str] = []
        self.machines: dict[str, Machine] = {}
        """What the cloud would list now."""
        self.answers: dict[str, Answered] = {}
        self.answer: Callable[[Order], CreateAnswer | None] = lambda _: None
        """What the cloud says to an order; None keeps the call open."""
        self.sees = True
        """Whether everything is seen, and clouds can be listed."""
        self.believes = True
        """Whether what is listed is believed."""
        self.refuses: set[str] = set()
        """Actions that the API server refuses: the first of them ends its sequence."""
        self.planning = PlanningLedger()
        """What planning remembers."""
        self.extra: dict[str, Any] = {}
        self._calling: set[str] = set()
        self._objects: dict[tuple[str, str], Any] = {}
        self._versions = 100
        self._ledger = Ledger(brakes=RELEASED)
        self._sight = Sight()
        self._listed_at = -1.0
        self.put(node_class(), *objects)

    @property
    def is_calling(self) -> bool:
        """Whether the cloud is being asked for the machine."""
        return NAME in self._calling

    def put(self, *objects: Any) -> None:
        for each in objects:
            self._objects[type(each).__name__, each.metadata.name] = each

    def get(self, kind: str, name: str = NAME) -> Any:
        return self._objects.get((kind, name))

    @property
    def phase(self) -> str:
        """Where the request stands; empty when it is gone."""
        found = self.get("NodeRequest")
        return "" if found is None else found.status.phase.value

    def drop(self, kind: str, name: str = NAME) -> None:
        del self._objects[kind, name]

    def delete(self, kind: str, name: str = NAME) -> None:
        """As a person deletes it: what is held stays for a while."""
        found = self._objects[kind, name]
        if not found.metadata.finalizers:
            self.drop(kind, name)
        elif found.metadata.deletion_timestamp is None:
            self._change(kind, name, metadata={"deletion_timestamp": self._wall})

    def restart(self) -> None:
        """Everything that was remembered is lost."""
        self._ledger = Ledger(brakes=RELEASED)
        self.answers.clear()
        self._calling.clear()
        self._sight = Sight()

    def answered(self, answer: CreateAnswer, name: str = NAME) -> None:
        """The open call comes back."""
        self._calling.discard(name)
        self.answers[name] = Answered(at=self.now, answer=answer)

    def until(self, seconds: float) -> None:
        """All passes that are due before a moment, and a listing each second."""
        while self.now < seconds:
            wake = self.step()
            listed = self._listed_at + 1.0 if self.sees else seconds
            soonest = self.now + 0.01
            self.now = min(max(min(wake, listed), soonest), max(seconds, soonest))

    def at_once(self) -> None:
        """All passes that are due while no time passes."""
        while self.step() <= self.now:
            pass

    def soon(self) -> None:
        self.until(self.now + 0.3)

    def step(self) -> float:
        """One pass; when the next is due."""
        self._list()
        seen = self.world()
        decision = provisioning.decide(seen, self._instant)
        assert decision.section is not None
        known = seen.remembering(replace(seen.ledger, provisioning=decision.section))
        told = pools.decide(known, self._instant)
        assert told.section is not None
        clock = sighted_clock(seen, self._instant)
        self._ledger = replace(
            self._ledger,
            provisioning=decision.section,
            pools=told.section,
            removal=self._ledger.removal.at(clock),
        )
        sequences = (*decision.sequences, *told.sequences)
        for sequence in sequences:
            for step in sequence.steps:
                if type(step).__name__ in self.refuses:
                    break
                self._carry_out(step)
        return self.now if sequences else min(decision.wake_at, told.wake_at)

    def world(self) -> World:
        removals = {
            each.name: each for each in self._objects.values() if type(each) is NodeRemovalRequest
        }
        others = [each for each in self._objects.values() if type(each) is not NodeRemovalRequest]
        trust = {CLOUD: Trust(judged=self._listed_at)} if self.sees and self.believes else {}
        brakes = replace(RELEASED, clouds=trust, may_remove=self.sees)
        told = {
            "removals": removals,
            "answers": dict(self.answers),
            "clouds": {CLOUD: self._sight},
            "busy": frozenset(subject(name) for name in self._calling),
            "ledger": replace(self._ledger, brakes=brakes, planning=self.planning),
        }
        return world(*others, **(told | self.extra))

    @property
    def _instant(self) -> Any:
        moment = at(self.now)
        return type(moment)(moment.monotonic, moment.wall + timedelta(seconds=self.jump))

    @property
    def _wall(self) -> Any:
        return self._instant.wall

    def _list(self) -> None:
        if self.sees and self.now >= self._listed_at + 1.0:
            seen = listing(*self.machines.values(), seconds=self.now)
            self._sight = Sight(listing=seen, before=self._sight.listing)
            self._listed_at = self.now

    def _carry_out(self, step: Action) -> None:
        if not isinstance(step, CreateMachine | EmitEvent):
            self.writes.append(type(step).__name__)
        match step:
            case CreateMachine(order=order):
                self._ask(order)
            case OpenRemoval(removal=made) | CreateNodeRecord(record=made):
                self.put(made)
            case HoldSeat(name=name, node=node):
                self.put(nominated_to(self.get("Pod", name), node))
            case SetNode(node=version):
                self._set_node(step, version)
            case PatchStatus(kind=kind, version=version, status=status):
                self._patch(kind, version, status)
            case SetFinalizers(kind=kind, version=version, finalizers=held):
                self._hold(kind, version, held)
            case Delete(kind=kind, version=version):
                self._check(kind, version)
                self.delete(kind, version.name)
            case EmitEvent(event=event):
                self.events.append((event.regarding.kind, event.reason, event.note))
            case _:
                raise AssertionError(f"provisioning never does this: {step}")

    def _ask(self, order: Order) -> None:
        self.orders.append(order)
        answer = self.answer(order)
        if answer is None:
            self._calling.add(order.name)
        else:
            self.answers[order.name] = Answered(at=self.now, answer=answer)

    def _check(self, kind: str, version: Version) -> Any:
        found = self._objects[kind, version.name]
        assert found.metadata.resource_version == version.resource_version
        return found

    def _patch(self, kind: str, version: Version, patch: Any) -> None:
        found = self._check(kind, version)
        merged = {**found.status.document(), **patch}
        known = {key: value for key, value in merged.items() if value is not None}
        status = type(found.status).model_validate(known)
        self._change(kind, version.name, status=status)
        self.answers.pop(version.name, None)

    def _hold(self, kind: str, version: Version, held: tuple[str, ...]) -> None:
        found = self._check(kind, version)
        if found.metadata.deletion_timestamp is not None and not held:
            self.drop(kind, version.name)
            self.answers.pop(version.name, None)
        else:
            self._change(kind, version.name, metadata={"finalizers": held})

    def _change(self, kind: str, name: str, *, metadata: Any = None, **changes: Any) -> None:
        found = self._objects[kind, name]
        self._versions += 1
        stamped = {**(metadata or {}), "resource_version": str(self._versions)}
        changes["metadata"] = found.metadata.model_copy(update=stamped)
        self._objects[kind, name] = found.model_copy(update=changes)

    def _set_node(self, step: SetNode, version: Version) -> None:
        found: Node = self._objects["Node", version.name]
        assert found.metadata.resource_version == version.resource_version
        self._versions += 1
        annotations = {**found.metadata.annotations, **step.annotations}
        metadata = msgspec.structs.replace(
            found.metadata,
            labels={**found.labels, **step.labels},
            annotations={key: text for key, text in annotations.items() if text is not None},
            resource_version=str(self._versions),
        )
        spec = found.spec
        if step.taints is not None:
            spec = msgspec.structs.replace(spec, taints=step.taints)
        self.put(msgspec.structs.replace(found, metadata=metadata, spec=spec))


__all__ = ["CLOUD", "HELD", "NAME", "Life", "machine", "made_at", "node", "settled"]
