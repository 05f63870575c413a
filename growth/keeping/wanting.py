"""The reasons that keep a node, in order; the first one that applies is the answer."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from growth.api.nodepool import DeletionPolicy
from growth.instant import whole_second
from growth.keeping.marks import is_cordoned_by_a_person, pool_of_node, protection
from growth.scheduling.owners import workload_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

GROWTH: Final = "growth"
"""The owner of reasons that end by themselves."""
OTHER: Final = "other"
A_HAIR: Final = 1e-3
OWNERS: Final = frozenset(
    {
        *(GROWTH, "annotation", "label", "person"),
        *("NodePool", "NodeRequest", "NodeRemovalRequest"),
        *("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job", "CronJob"),
        "Pod",
    }
)
"""First words of owners that metrics show as they are. Controllers of pods may have any kind, so
all others are `other`."""


class KeepingReason(StrEnum):
    """Why a node is kept, as one word for programs."""

    REMOVAL_FAILED = "RemovalFailed"
    """The provider hasn't deleted its machine after several requests."""
    LEAVING = "Leaving"
    """It is being removed."""
    HELD = "Held"
    """A pod on it may not be moved."""
    OCCUPIED = "Occupied"
    """Pods run on it."""
    RETAINED = "Retained"
    """Its pool is being deleted with the policy to retain nodes."""
    PROMISED = "Promised"
    """A pod is promised a place on it."""
    CORDONED = "Cordoned"
    """A person has cordoned it."""
    PROTECTED = "DoNotDisrupt"
    """An annotation protects it."""
    PAUSED = "Paused"
    """Its pool is paused."""
    IN_PLACE = "InPlaceOf"
    """It replaces another node, which is removed when this one serves."""
    STARTING = "Starting"
    """It is new, and its pods have some time to arrive."""
    SIZED = "ScalingPolicy"
    """The scaling policy of its pool holds it."""
    MINIMUM = "PoolMinimum"
    """The minimum of its pool requires it."""
    PAID = "PaidHour"
    """It is idle until its paid hour ends."""
    IDLE = "Idle"
    """Nothing keeps it, and it will be removed."""


class Keeping(msgspec.Struct, frozen=True, kw_only=True):
    """Why a node is kept: one reason, one owner, one end."""

    reason: KeepingReason
    why: str
    """For people."""
    owner: str
    """Who can change it."""
    ends: datetime | None = None
    """When it ends by itself; None if that isn't known."""

    @property
    def until(self) -> datetime | None:
        """Its end for people, in whole seconds."""
        return None if self.ends is None else whole_second(self.ends)

    @property
    def owner_kind(self) -> str:
        """The first word of the owner: a kind, `growth`, `annotation` or `person`."""
        first = self.owner.partition(" ")[0]
        return first if first in OWNERS else OTHER

    def ends_at(self, now: Instant) -> float:
        """When it ends by itself, in monotonic seconds; infinite if unknown or overdue."""
        # Overdue, so only a change can end it. A moment in the past would wake the loop again and
        # again.
        if self.ends is None or self.ends < now.wall:
            return inf
        # A little later, because rounding may make it seem not over yet at its exact end.
        return now.monotonic + max(-now.seconds_since(self.ends), A_HAIR)


class KnownPause(Protocol):
    """A pause of a pool."""

    @property
    def until(self) -> datetime | None:
        """Its end; None if it has none, or if it can't be read."""

    @property
    def is_of_mode(self) -> bool:
        """Whether the pool only observes."""


def who_wants(
    node: Node,
    keepers: Sequence[Pod],
    *,
    pool: NodePool | None,
    promises: Collection[str],
    pauses: Mapping[str, KnownPause],
    in_place_of: str = "",
) -> Keeping | None:
    """Why the node is kept; None if it is idle. `in_place_of` names a node that it replaces."""
    if keepers:
        return occupied(keepers)
    if pool is not None and _is_left_behind_by(pool):
        why = "its pool is being deleted, and keeps its nodes (deletionPolicy Retain)"
        return Keeping(reason=KeepingReason.RETAINED, why=why, owner=f"NodePool {pool.name}")
    if node.name in promises:
        why = "a place on it is reserved for a pod"
        return Keeping(reason=KeepingReason.PROMISED, why=why, owner=GROWTH)
    if (kept := kept_by_hand(node) or _paused(node, pauses)) is not None:
        return kept
    if in_place_of:
        why = f"it replaces {in_place_of}"
        return Keeping(reason=KeepingReason.IN_PLACE, why=why, owner=GROWTH)
    return None


def _is_left_behind_by(pool: NodePool) -> bool:
    """Whether the pool is deleted without its nodes; a mark would stay on them forever."""
    is_going = pool.metadata.deletion_timestamp is not None
    return is_going and pool.spec.deletion_policy is DeletionPolicy.RETAIN


def kept_by_hand(node: Node) -> Keeping | None:
    """Why the node is kept because of a person's cordon or annotation."""
    if is_cordoned_by_a_person(node):
        why = "a person has cordoned it"
        return Keeping(reason=KeepingReason.CORDONED, why=why, owner="person who cordoned it")
    if said := protection(node):
        why = f"it has the {said}"
        return Keeping(reason=KeepingReason.PROTECTED, why=why, owner=said)
    return None


def _paused(node: Node, pauses: Mapping[str, KnownPause]) -> Keeping | None:
    if (pool := pool_of_node(node)) in pauses:
        pause, owner = pauses[pool], f"NodePool {pool}"
        why = "its pool only observes" if pause.is_of_mode else "its pool is paused"
        return Keeping(reason=KeepingReason.PAUSED, why=why, owner=owner, ends=pause.until)
    return None


def occupied(keepers: Sequence[Pod]) -> Keeping:
    """The answer for a node with pods, which names the first one."""
    first, others = keepers[0], len(keepers) - 1
    match others:
        case 0:
            why = f"{first.name} runs on it"
        case 1:
            why = f"{first.name} and another pod run on it"
        case _:
            why = f"{first.name} and {others} other pods run on it"
    return Keeping(reason=KeepingReason.OCCUPIED, why=why, owner=str(workload_of(first)))
