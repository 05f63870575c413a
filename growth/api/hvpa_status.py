"""The status of an Hvpa: what is seen, what is decided and what holds it up.

It is also the memory of the process that sizes workloads: what it has decided (`intent`) is written
here before anything is changed, so that it goes on with it after a restart.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from growth.api.bounds import Atomic, Count, Flag, Sentence, Word
from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.model import Model
from growth.api.written import Quantity, Timestamp

MOST_INTERVALS: Final = 100
"""The most intervals that a status lists."""
MOST_CONTAINERS: Final = 32
"""The most containers that a status lists."""


class SizeOfContainer(Model):
    """The size of one container."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the container."""
    cpu: Quantity | None = None
    """Its CPU request."""
    memory: Quantity | None = None
    """Its memory request."""
    cpu_limit: Quantity | None = None
    """Its CPU limit."""
    memory_limit: Quantity | None = None
    """Its memory limit."""


SizesOfContainers = Annotated[
    tuple[SizeOfContainer, ...], Field(max_length=MOST_CONTAINERS), Atomic()
]


class SizeOfWorkload(Model):
    """How many replicas of what size."""

    replicas: Count = 0
    """Number of replicas."""
    containers: SizesOfContainers = ()
    """Requests and limits of each container of one pod."""


class IntervalInStatus(Model):
    """A range of totals with one number of replicas."""

    replicas: Count
    """Number of replicas."""
    cpu_up_to: Quantity | None = None
    """On the way up, a larger total of CPU means more replicas."""
    cpu_down_to: Quantity | None = None
    """On the way down, a smaller total of CPU means fewer replicas."""
    memory_up_to: Quantity | None = None
    """On the way up, a larger total of memory means more replicas."""
    memory_down_to: Quantity | None = None
    """On the way down, a smaller total of memory means fewer replicas."""


class ContainerTotals(Model):
    """What a source recommends for one container in all replicas together."""

    name: Annotated[str, Field(max_length=63)]
    """Name of the container."""
    cpu: Quantity | None = None
    """CPU of all replicas."""
    memory: Quantity | None = None
    """Memory of all replicas."""


class SourceName(StrEnum):
    """Who recommends."""

    HPA = "HPA"
    VPA = "VPA"


class SourceInStatus(Model):
    """What a source says, and whether it is believed."""

    name: SourceName
    """HPA or VPA."""
    trusted: Flag
    """Whether it is believed. A source that isn't changes nothing, and nothing shrinks."""
    reason: Sentence = ""
    """Why it isn't believed."""
    totals: Annotated[tuple[ContainerTotals, ...], Field(max_length=MOST_CONTAINERS), Atomic()] = ()
    """What it recommends for each container in all replicas together."""


class DecidedBy(Model):
    """Whose recommendation leads to the number of replicas."""

    source: SourceName
    """HPA or VPA."""
    container: Annotated[str, Field(max_length=63)]
    """The container."""
    resource: Annotated[str, Field(max_length=63)]
    """cpu or memory."""
    total: Quantity
    """What is recommended for all replicas together."""


class BlockedSize(Model):
    """Why a size that is wanted isn't applied now."""

    reason: Word
    """One word for programs."""
    message: Sentence = ""
    """What holds it up, for people."""
    until: Timestamp | None = None
    """When that ends by itself."""


class LastScaling(Model):
    """The last time that something was changed."""

    at: Timestamp
    """When it was decided."""
    before: SizeOfWorkload
    """The size before it."""
    after: SizeOfWorkload
    """The size that was decided."""
    reached_at: Timestamp | None = None
    """When the workload had it."""


class ReplicasChange(Model):
    """What the VPA said of a container when the number of replicas last changed."""

    container: Annotated[str, Field(max_length=63)]
    """The container."""
    resource: Annotated[str, Field(max_length=63)]
    """cpu or memory."""
    before: Count
    """Replicas before the change."""
    after: Count
    """Replicas after it."""
    target: Quantity
    """What the VPA recommended for one pod."""
    total: Quantity
    """The total that was decided on."""


class RefusedWrite(Model):
    """A write that the API server has refused. The next one follows ten minutes later."""

    at: Timestamp
    """When it was refused."""
    reason: Word
    """OwnedByOther, ResizeInfeasible or WriteRefused."""
    by: Annotated[tuple[Annotated[str, Field(max_length=128)], ...], Field(max_length=16)] = ()
    """The field managers that own the field."""
    message: Sentence = ""
    """What the API server says."""


class HvpaStatus(Model):
    """What is seen of the workload, and what is decided about its size."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    replicas: Count = 0
    """Number of replicas of the workload."""
    selector: Annotated[str, Field(max_length=4096)] = ""
    """The label selector of its pods."""
    intervals: Annotated[
        tuple[IntervalInStatus, ...], Field(max_length=MOST_INTERVALS), Atomic()
    ] = ()
    """The ranges of totals that follow from the spec; the first hundred."""
    sources: Annotated[tuple[SourceInStatus, ...], Field(max_length=2), Atomic()] = ()
    """What the HPA and the VPA say."""
    current: SizeOfWorkload | None = None
    """The size of the workload now."""
    desired: SizeOfWorkload | None = None
    """The size that it should have."""
    decided_by: DecidedBy | None = None
    """Whose recommendation leads to the desired number of replicas."""
    blocked: BlockedSize | None = None
    """Why the desired size isn't applied now."""
    last_scaling: LastScaling | None = None
    """The last change."""
    intent: SizeOfWorkload | None = None
    """What was decided and isn't reached yet. It is written before the first change."""
    held: SizesOfContainers = ()
    """The requests that pods had when fewer replicas began to wait."""
    replicas_changes: Annotated[tuple[ReplicasChange, ...], Field(max_length=64), Atomic()] = ()
    """What the VPA said at the last change of replicas, as long as it may still say the same."""
    refused: RefusedWrite | None = None
    """The last write that somebody else's ownership has refused."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The object's state, from which its conditions follow."""
        blocked = self.blocked
        if blocked is not None:
            return ObjectVerdict(_standing(blocked.reason), blocked.reason, blocked.message)
        if self.intent is not None:
            return ObjectVerdict(ObjectStanding.IN_PROGRESS, "Scaling", "the size is being applied")
        return ObjectVerdict(ObjectStanding.CURRENT, "Sized", "the workload has its size")

    @classmethod
    def examples(cls) -> tuple[HvpaStatus, ...]:
        """A status for each set of conditions."""
        blocked = [
            BlockedSize(reason=reason, message=text)
            for reason, text in (
                ("MinChange", "What holds the change up."),
                ("PodsNotReady", "What it waits for."),
                ("OwnedByOther", "What is wrong and how to fix it."),
            )
        ]
        return (
            cls(),
            cls(intent=SizeOfWorkload()),
            *(cls(blocked=each) for each in blocked),
        )


NEEDS_A_PERSON: Final = frozenset(
    {
        "IntervalsInvalid",
        "NoSource",
        "OwnedByOther",
        "ResizeInfeasible",
        "TargetNotFound",
        "WriteRefused",
    }
)
"""The reasons that don't end before somebody changes something."""
WAITS_FOR_OTHERS: Final = frozenset(
    {"PodsNotReady", "ResizeDeferred", "ResizeInProgress", "RolloutInProgress", "SourceUnavailable"}
)
"""The reasons that end when something else is done."""


def _standing(reason: str) -> ObjectStanding:
    """What a reason means for the object. One that follows from its spec is as it should be."""
    if reason in NEEDS_A_PERSON:
        return ObjectStanding.FAILED
    return ObjectStanding.IN_PROGRESS if reason in WAITS_FOR_OTHERS else ObjectStanding.CURRENT
