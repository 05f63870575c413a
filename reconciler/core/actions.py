"""Everything that growth can do to the world, as data.

Rules return these actions; only `effects` carries them out. Each names the version of the object it
was decided on, so that the API server refuses it if the object has changed. A sequence is about one
subject and ends at its first failure: the next pass decides again from the actual state.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, assert_never

import msgspec

from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.kube.events.event import Event
from growth.scheduling.taints import Taint
from reconciler.providers.port import ClassKey, Machine, Order
from reconciler.solver import Plan, Problem, Renewal, Renewed

if TYPE_CHECKING:
    from growth.api.meta import ObjectMeta
    from growth.scheduling.metadata import Metadata
    from growth.scheduling.pod import Pod

NODES: Final = "nodes"


class SubjectKind(StrEnum):
    """The kinds of subjects."""

    MACHINE = "machine"
    """A request, its machine, its record, its node and its removal: they share one name and one
    writer."""
    POOL = "pool"
    NODE_CLASS = "node class"
    POD = "pod"
    LANE = "lane"
    """A worker that solves: one question at a time."""


class Subject(NamedTuple):
    """The subject of a sequence; at most one sequence at a time has the same subject."""

    kind: SubjectKind
    name: str


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """The exact state of an object that was decided on: its name, uid and resource version."""

    name: str
    uid: str
    resource_version: str


class Versioned(Protocol):
    """Any object of the API server."""

    @property
    def metadata(self) -> Metadata | ObjectMeta:
        """Name, uid and version, among others."""


def version_of(found: Versioned) -> Version:
    """The version of an object that is decided on."""
    metadata = found.metadata
    return Version(name=metadata.name, uid=metadata.uid, resource_version=metadata.resource_version)


class CreateNodeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Write down the intent to buy a machine; only then may it be bought."""

    request: NodeRequest


class CreateNodeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Write down what is true of a machine; only then is its Node believed."""

    record: NodeRecord


class CreateMachine(msgspec.Struct, frozen=True, kw_only=True):
    """Ask the provider for the machine of a request. The answer enters the next World."""

    order: Order


class OpenRemoval(msgspec.Struct, frozen=True, kw_only=True):
    """Write down the intent to give a machine back; only then may it be deleted."""

    removal: NodeRemovalRequest


class DeleteMachine(msgspec.Struct, frozen=True, kw_only=True):
    """Ask the provider to delete a machine, unless its node has pods after all."""

    node_class: ClassKey
    machine: Machine


class SetNode(msgspec.Struct, frozen=True, kw_only=True):
    """Change a node. What is None stays as it is."""

    node: Version
    labels: Mapping[str, str | None] = {}
    annotations: Mapping[str, str | None] = {}
    taints: tuple[Taint, ...] | None = None
    unschedulable: bool | None = None


class Evict(msgspec.Struct, frozen=True, kw_only=True):
    """Ask the API server to evict this exact pod, if its budgets allow it, with its own grace."""

    namespace: str
    name: str
    uid: str
    ends_within: int | None = None
    """Where the time of its drain is up: it has so many seconds, and is deleted if its budgets
    refuse the eviction."""


class HoldSeat(msgspec.Struct, frozen=True, kw_only=True):
    """Tell the scheduler which node this exact pod is expected on, so that others leave it room."""

    namespace: str
    name: str
    uid: str
    node: str


class SetDeletionCost(msgspec.Struct, frozen=True, kw_only=True):
    """Tell Kubernetes how early this exact pod goes when its workload is scaled down."""

    namespace: str
    name: str
    uid: str
    cost: int


class Evicted(msgspec.Struct, frozen=True, kw_only=True):
    """The API server's answer to the last eviction of a pod."""

    pod: Evict
    at: float
    """The monotonic second at which it was said."""
    refused: str = ""
    """Why the pod stays, in the server's words; empty if it goes."""
    seconds: float = 0.0
    """How long to wait before the next try, if the server said so."""
    times: int = 0
    """How often it has refused in a row."""


class CrashedStep(msgspec.Struct, frozen=True, kw_only=True):
    """The last step about a subject ended with an exception that nothing foresees."""

    why: str
    """What happened and where in the code, without values: they may be secret."""
    again_at: float
    """The monotonic second from which on it is tried again, even if nothing changes."""


class PatchStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Write a new status of one of our objects."""

    kind: str
    version: Version
    status: Mapping[str, Any]


class SetFinalizers(msgspec.Struct, frozen=True, kw_only=True):
    """Set the finalizers of one of growth's objects."""

    kind: str
    version: Version
    finalizers: tuple[str, ...]


class Delete(msgspec.Struct, frozen=True, kw_only=True):
    """Delete one of our objects."""

    kind: str
    version: Version


class EmitEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Write an event about an object. It may be dropped, and nothing waits for it."""

    event: Event


class UnstatedRenewal(Protocol):
    """A question about so many nodes that stating it may take seconds, so no pass does it."""

    def stated(self) -> Renewal:
        """The question; it depends on nothing else, so any thread may ask."""


class Solve(msgspec.Struct, frozen=True, kw_only=True):
    """Ask the solver. Its plan enters a later World, with the number of the question."""

    lane: str
    number: int
    problem: Problem | Renewal | UnstatedRenewal

    @property
    def stated(self) -> Problem | Renewal:
        """The question in the solver's words."""
        problem = self.problem
        return problem if isinstance(problem, Problem | Renewal) else problem.stated()


class Solved(msgspec.Struct, frozen=True, kw_only=True):
    """The solver's last answer on a lane."""

    number: int
    plan: Plan | Renewed


Action = (
    CreateNodeRequest
    | CreateNodeRecord
    | CreateMachine
    | OpenRemoval
    | DeleteMachine
    | SetNode
    | Evict
    | HoldSeat
    | SetDeletionCost
    | PatchStatus
    | SetFinalizers
    | Delete
    | EmitEvent
    | Solve
)


def decided_on(action: Action) -> tuple[str, Version] | None:
    """The kind and the state that an action was decided on; None where there was no object."""
    match action:
        case SetNode(node=version):
            return NODES, version
        case (
            PatchStatus(kind=kind, version=version)
            | SetFinalizers(kind=kind, version=version)
            | Delete(kind=kind, version=version)
        ):
            return kind, version
        case (
            CreateNodeRequest()
            | CreateNodeRecord()
            | CreateMachine()
            | OpenRemoval()
            | DeleteMachine()
            | Evict()
            | HoldSeat()
            | SetDeletionCost()
            | EmitEvent()
            | Solve()
        ):
            return None
        case _:
            assert_never(action)


class Sequence(msgspec.Struct, frozen=True, kw_only=True):
    """Steps about one subject, in their order."""

    subject: Subject
    steps: tuple[Action, ...]
    why: str
    """A short text for the log."""


def only_tells(sequence: Sequence) -> bool:
    """Whether it changes nothing but what people read: conditions and events."""
    return all(
        isinstance(step, EmitEvent)
        or (isinstance(step, PatchStatus) and step.status.keys() == {"conditions"})
        for step in sequence.steps
    )


def machine(name: str) -> Subject:
    """The subject of a request, its machine, its node and its removal."""
    return Subject(SubjectKind.MACHINE, name)


def pool_subject(name: str) -> Subject:
    """The subject of a pool's own object; its machines have their own."""
    return Subject(SubjectKind.POOL, name)


def node_class_subject(key: ClassKey) -> Subject:
    """The subject of a node class; classes of different kinds may have the same name."""
    return Subject(SubjectKind.NODE_CLASS, f"{key.kind}/{key.name}")


def lane_subject(lane: str) -> Subject:
    """The subject of what the solver is asked on a lane."""
    return Subject(SubjectKind.LANE, lane)


def pod_subject(pod: Pod) -> Subject:
    """The subject of one pod, so that a delay with it delays no other pod.

    The name is namespace/name.
    """
    return Subject(SubjectKind.POD, pod.name)
