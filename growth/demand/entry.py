"""One line of the demand book: a pod that needs a node, or one whose need is held back for now.

It names the pod and the version of it that was judged, and nothing of what it asks for: whoever
plans for it has the pod itself.
"""

from __future__ import annotations

import enum
from datetime import datetime

import msgspec


class State(enum.Enum):
    """Whether a node is to be found for the pod now."""

    DEMAND = "demand"
    HELD = "held"
    """It has, or is about to get, a place without us. This ends by itself after a while."""


class EntryReason(enum.StrEnum):
    """Why it is in the book."""

    UNSCHEDULABLE = "Unschedulable"
    """The scheduler found no node for it."""
    SIBLING = "SiblingUnschedulable"
    """The scheduler hasn't reached it, and found no node for another one just like it."""
    POOL_NOT_FOUND = "PoolNotFound"
    """No node can be bought for it: no pool that exists is one that it may use."""
    FEASIBLE = "Feasible"
    """The scheduler asked about nodes that fit it: there is one."""
    NOMINATED = "Nominated"
    """The scheduler makes room for it by preemption."""


class DemandEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What the book says of one pod."""

    uid: str
    namespace: str
    name: str
    resource_version: str
    """The version of the pod that this was judged by."""
    state: State
    reason: str
    """One of `EntryReason`, or what a later version may say."""
    since: datetime
    """When this book came to see this state for this reason."""
    inferred: bool = False
    """Whether the scheduler itself hasn't reached the pod yet."""
