"""The simulated provider and its machines.

As with KWOK, a machine has the name of its request, boots as long as its node class says, and is
sold out if the class says so. Its node exists at once, or joins while the machine boots. The node
starts with our taints and the not-ready taint, which the node controller removes shortly after the
node is ready.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, assert_never

import msgspec

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.noderequest import UnmetScope
from growth.api.wellknown import DEFAULT_NODE_CLASS, MANAGED_BY_LABEL, POOL_LABEL
from growth.api.written import Duration
from growth.kube.cache.resource import Key
from growth.kube.errors import AlreadyExists, NotFound
from growth.scheduling.metadata import ObservedCondition
from growth.scheduling.node import Node
from growth.scheduling.taints import NO_SCHEDULE, Taint
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.providers.kwok.faults import is_sold_out
from reconciler.providers.kwok.provider import boot_time, machine_id, node_manifest
from reconciler.providers.port import (
    Accepted,
    ClassKey,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    Listing,
    MachineState,
    Order,
    Throttled,
    Unmet,
)
from reconciler.providers.port import Machine as ListedMachine
from reconciler.simulation.chance import Chance
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.refusals import CloudRefusals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.instant import Instant
    from reconciler.providers.port import CreateAnswer, Offering
    from reconciler.simulation.story import Story
    from reconciler.simulation.surroundings import Surroundings

NOT_READY: Final = Taint("node.kubernetes.io/not-ready", NO_SCHEDULE)
READY: Final = ObservedCondition(type="Ready", status="True", reason="KubeletReady")
UNTAINTED_AFTER = 0.1
"""Seconds from Ready until the node controller removes its taint."""
NODE_GONE_AFTER = 5.0
"""Seconds from the end of a machine until a cloud controller deletes its node."""
SILENT_AFTER = 40.0
"""Seconds from the end of a machine until its node is not ready, without a cloud controller."""
THROTTLED_FOR = (1.0, 30.0)
DEFAULT_CLASS: Final = ClassKey(KwokNodeClass.__name__, DEFAULT_NODE_CLASS)
OUR_NAME: Final = "a11e"
"""The installation of the simulated growth."""
FAILURES: Final = (*UnmetScope, FailureClass.TRANSIENT)
"""What failures of machines say is refused; the last one is of this machine alone."""


class SimulatedJoining(StrEnum):
    """When the node of a machine appears."""

    AT_ONCE = "at once"
    """As with KWOK, where the node is the machine."""
    WHILE_BOOTING = "while booting"


class Showing(StrEnum):
    """What listings show."""

    TRUTH = "the truth"
    NOTHING = "nothing"
    HALF = "half"
    THE_PAST = "the past"


class SimulatedMachine(msgspec.Struct, kw_only=True):
    """A machine that is paid for."""

    order: Order
    made_at: float
    created_at: datetime | None = None
    """The same by the cloud's clock."""
    serves_since: float | None = None
    failed: UnmetScope | FailureClass | None = None
    """What its failure says is refused, or that it is of this machine alone; None if it is well."""

    @property
    def is_serving(self) -> bool:
        """Whether its kubelet has ever been ready."""
        return self.serves_since is not None


class SimulatedCloud:
    """The provider, with its machines by name."""

    def __init__(self, around: Surroundings, joining: SimulatedJoining) -> None:
        self.made: Callable[[Order], None] = lambda _: None
        """Called with the order of each created machine."""
        self.gone: Callable[[str], None] = lambda _: None
        """Called with the name of each machine that is no longer paid for."""
        self.deleting: Callable[[ListedMachine], None] = lambda _: None
        """Called with each machine whose deletion is requested."""
        self.machines: dict[str, SimulatedMachine] = {}
        self.classes: dict[str, ClassKey] = {}
        """The node class of each machine that was ever created, by name."""
        self.foreign: dict[str, ListedMachine] = {}
        """Machines that another growth has bought under the same id."""
        self.installation = OUR_NAME if _has_labels(around.story) else ""
        """The installation that is written on machines; "" if the provider has no such label."""
        self.bought = 0
        self._paid = 0.0
        self.died: set[str] = set()
        """Machines that died."""
        self.failed = 0
        """Machines that failed after they were accepted."""
        self.retired = 0
        """Machines that were given back."""
        self.forgotten: set[str] = set()
        """Machines whose Node was deleted by others."""
        self.made_for: dict[str, int] = {}
        """The number of machines that were ever created for each request, by its uid."""
        self._showing = Showing.TRUTH
        self._shows_until = 0.0
        self._past: dict[str, ListedMachine] = {}
        """The machines at the time from which listings show the past."""
        self._has_controller = Chance(around.story.seed, "cloud controller").happens(0.5)
        """Whether a cloud controller deletes the nodes of dead machines."""
        self.refusals = CloudRefusals(around.timeline)
        self._joining = joining
        self._server = around.server
        self._faults = around.faults
        self._timeline = around.timeline
        self._trace = around.trace

    @property
    def lost(self) -> int:
        """The number of machines that died."""
        return len(self.died)

    @property
    def paid(self) -> float:
        """The total seconds of all machines that were paid for."""
        now = self._timeline.now
        return self._paid + sum(now - machine.made_at for machine in self.machines.values())

    def create(self, order: Order) -> CreateAnswer:
        """Create a machine, or adopt the existing one."""
        answer = self._create(order)
        self._trace.note(f"cloud: {order.name} {type(answer).__name__}")
        return answer

    def listing(self, at: Instant) -> Listing:
        """All machines that are paid for, or the wrong listing of a fault."""
        showing = self._showing if self._timeline.now < self._shows_until else Showing.TRUTH
        there = self._listed()
        match showing:
            case Showing.TRUTH:
                return Listing(at=at, is_complete=True, machines=there)
            case Showing.NOTHING:
                return Listing(at=at, is_complete=True, machines={})
            case Showing.HALF:
                half = dict(list(there.items())[::2])
                return Listing(at=at, is_complete=False, reason="page 2 is missing", machines=half)
            case Showing.THE_PAST:
                return Listing(at=at, is_complete=True, machines=self._past | there)
            case _:
                assert_never(showing)

    def class_of(self, name: str) -> ClassKey:
        """The node class of a machine; another growth uses the one that all clusters have."""
        return self.classes.get(name, DEFAULT_CLASS)

    def show(self, showing: Showing, *, seconds: float) -> None:
        """Let listings show something else for a while."""
        self._showing, self._shows_until = showing, self._timeline.now + seconds
        self._past = self._listed()

    def _listed(self) -> dict[str, ListedMachine]:
        own = {
            name: _listed(machine, self.installation)
            for name, machine in sorted(self.machines.items())
        }
        return own | self.foreign

    def delete(self, machine: ListedMachine) -> DeleteAnswer:
        """Delete a machine, and its node."""
        self.deleting(machine)
        if machine.name not in self.machines:
            return DeleteAnswer(outcome=DeleteOutcome.GONE)
        if self._faults.strikes(SimulatedFault.DELETE_FAILS, 0.5):
            return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason="it is locked")
        self._end(machine.name)
        self.retired += 1
        self._trace.note(f"cloud: {machine.name} given back")
        self.gone(machine.name)
        self._node_follows(machine.name)
        return DeleteAnswer(outcome=DeleteOutcome.ACCEPTED)

    def die(self, name: str) -> None:
        """End a machine by a fault; its node follows."""
        if name not in self.machines:
            return
        self._end(name)
        self.died.add(name)
        self._trace.note(f"cloud: {name} died")
        self.gone(name)
        self._node_follows(name)

    def _end(self, name: str) -> None:
        self._paid += self._timeline.now - self.machines.pop(name).made_at

    def _node_follows(self, name: str) -> None:
        """A cloud controller deletes the node; without one, the node becomes silent."""
        if self._has_controller:
            self._timeline.after(NODE_GONE_AFTER, self._drop_node, name)
        else:
            self._timeline.after(SILENT_AFTER, self._fall_silent, name)

    def part(self, names: Iterable[str], *, seconds: float) -> None:
        """Cut off the kubelets of these machines for a while; the machines keep running."""
        for name in names:
            if self.machines[name].is_serving:
                self._change_node(name, silent)
                self._timeline.after(seconds, self._change_node, name, with_ready)
                self._timeline.after(
                    seconds + UNTAINTED_AFTER, self._change_node, name, without_not_ready
                )

    def _fall_silent(self, name: str) -> None:
        if name not in self.machines:
            with suppress(NotFound):
                self._server.change("nodes", Key("", name), silent)

    def _create(self, order: Order) -> CreateAnswer:
        found = self.machines.get(order.name)
        if found is not None:
            return self._adopted(found, order)
        if self._faults.strikes(SimulatedFault.CLOUD_THROTTLED, 0.1):
            chance = self._faults.chance(SimulatedFault.CLOUD_THROTTLED)
            return Throttled(seconds=chance.between(*THROTTLED_FOR))
        node_class = self._server.kind(order.node_class.kind).named(order.node_class.name)
        offering = _offering(order, node_class)
        if offering is None:
            return Failed(failure=FailureClass.TEMPLATE, reason="not in the catalogue")
        if (refused := self.refusals.answer(order)) is not None:
            return refused
        if is_sold_out(offering, node_class, order):
            return Unmet(reason="sold out", scope=UnmetScope.OFFER)
        self._make(order, offering, node_class)
        return Accepted(machine_id=machine_id(order.name))

    def _adopted(self, found: SimulatedMachine, order: Order) -> CreateAnswer:
        if found.order.request_uid != order.request_uid:
            return Failed(failure=FailureClass.TEMPLATE, reason="made for another request")
        return Accepted(machine_id=machine_id(order.name))

    def _make(self, order: Order, offering: Offering, node_class: KwokNodeClass) -> None:
        self.machines[order.name] = SimulatedMachine(
            order=order, made_at=self._timeline.now, created_at=self._server.wall
        )
        self.classes[order.name] = order.node_class
        self.bought += 1
        self.made_for[order.request_uid] = self.made_for.get(order.request_uid, 0) + 1
        self.made(order)
        boot = boot_time(order.name, node_class.spec.boot_delay).seconds
        if self._faults.strikes(SimulatedFault.SLOW_BOOT, 0.2):
            boot += self._faults.chance(SimulatedFault.SLOW_BOOT).between(30.0, 400.0)
        join = 0.0 if self._joining is SimulatedJoining.AT_ONCE else boot / 2
        self._timeline.after(join, self._join, order, offering)
        if self._faults.strikes(SimulatedFault.DIES_JOINING, 0.1):
            self._timeline.after(boot / 2, self.die, order.name)
        elif self._faults.strikes(SimulatedFault.FAILS_JOINING, 0.1):
            self._timeline.after(boot / 2, self._fail, order)
        elif not self._faults.strikes(SimulatedFault.NEVER_READY, 0.1):
            self._timeline.after(boot, self._serve, order.name)

    def _fail(self, order: Order) -> None:
        """Fail a machine; it is listed and paid for until someone deletes it."""
        machine = self.machines.get(order.name)
        if machine is not None and machine.order.request_uid == order.request_uid:
            machine.failed = self._faults.chance(SimulatedFault.FAILS_JOINING).one_of(FAILURES)
            self.failed += 1
            self._trace.note(f"cloud: {order.name} failed: {machine.failed}")

    def _join(self, order: Order, offering: Offering) -> None:
        if order.name not in self.machines:
            return
        document = node_manifest(order, allocatable=offering.allocatable, ready_after=Duration(0))
        node = msgspec.convert(document, Node)
        taints = (*node.spec.taints, NOT_READY)
        spec = msgspec.structs.replace(node.spec, taints=taints)
        # The Node of a dead machine with the same name may still exist; then it is reused.
        with suppress(AlreadyExists):
            self._server.create("nodes", msgspec.structs.replace(node, spec=spec))

    def _serve(self, name: str) -> None:
        machine = self.machines.get(name)
        if machine is None:
            return
        machine.serves_since = self._timeline.now
        self._change_node(name, with_ready)
        self._timeline.after(UNTAINTED_AFTER, self._change_node, name, without_not_ready)

    def _change_node(self, name: str, changed: Any) -> None:
        if name in self.machines:
            # The Node may be gone; the auditor checks that.
            with suppress(NotFound):
                self._server.change("nodes", Key("", name), changed)

    def _drop_node(self, name: str) -> None:
        # A repeated create may have made another machine under this name meanwhile.
        if name not in self.machines:
            with suppress(NotFound):
                self._server.delete("nodes", Key("", name))


def _state(machine: SimulatedMachine) -> MachineState:
    if machine.failed is not None:
        return MachineState.FAILED
    return MachineState.RUNNING if machine.is_serving else MachineState.CREATING


def _has_labels(story: Story) -> bool:
    """Drawn apart, so that no other seed changes."""
    is_asked = SimulatedFault.SECOND_WRITER in story.faults
    return is_asked and Chance(story.seed, "labels").happens(0.5)


def _listed(machine: SimulatedMachine, installation: str) -> ListedMachine:
    order = machine.order
    return ListedMachine(
        machine_id=machine_id(order.name),
        name=order.name,
        request_uid=order.request_uid,
        pool=order.pool,
        state=_state(machine),
        reason="" if machine.failed is None else "it failed while booting",
        scope=machine.failed if isinstance(machine.failed, UnmetScope) else None,
        created_at=machine.created_at,
        server_type=order.server_type.canonical,
        location=order.location,
        installation=installation,
    )


def _offering(order: Order, node_class: KwokNodeClass | None) -> Offering | None:
    sold = kwok_offerings(node_class) if node_class is not None else ()
    wanted = order.server_type, order.location, dict(order.own_labels)
    return next(
        (
            each
            for each in sold
            if (each.server_type, each.location, dict(each.own_labels)) == wanted
        ),
        None,
    )


def with_ready(node: Node) -> Node:
    """The node after its kubelet reports that it is ready."""
    return msgspec.structs.replace(
        node, status=msgspec.structs.replace(node.status, conditions=(READY,))
    )


def silent(node: Node) -> Node:
    """The node after its kubelet was silent for a while."""
    status = msgspec.structs.replace(node.status, conditions=())
    taints = (*node.spec.taints, NOT_READY)
    spec = msgspec.structs.replace(node.spec, taints=taints)
    return msgspec.structs.replace(node, spec=spec, status=status)


def without_not_ready(node: Node) -> Node:
    """The node after the node controller has removed the not-ready taint."""
    taints = tuple(taint for taint in node.spec.taints if taint.key != NOT_READY.key)
    return msgspec.structs.replace(node, spec=msgspec.structs.replace(node.spec, taints=taints))


def pool_of_simulated_node(node: Node) -> str:
    """The pool of a node by its labels; "" for other nodes."""
    return node.labels.get(POOL_LABEL, "") if MANAGED_BY_LABEL in node.labels else ""
