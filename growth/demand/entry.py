"""An entry of the demand book: a pod that needs a node, or is on hold for now.

It has the name of the pod and the version that was judged. It doesn't have the pod's requests,
because planning has the pod itself.
"""

from __future__ import annotations

import enum
from datetime import datetime

import msgspec


class State(enum.Enum):
    """Whether the pod needs a node now."""

    DEMAND = "demand"
    HELD = "held"
    """On hold: it has, or is about to get, a place without a new node. Holds end by themselves."""


class EntryReason(enum.StrEnum):
    """Why a pod is in the book."""

    UNSCHEDULABLE = "Unschedulable"
    """The scheduler found no node for it."""
    SIBLING = "SiblingUnschedulable"
    """The scheduler hasn't tried it, but found no node for one of its siblings."""
    POOL_NOT_FOUND = "PoolNotFound"
    """No node can be bought for it: there is no pool that it may use."""
    FEASIBLE = "Feasible"
    """The scheduler has found nodes that fit it."""
    NOMINATED = "Nominated"
    """The scheduler is making room for it by preemption."""


class DemandEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The book's entry for one pod."""

    uid: str
    namespace: str
    name: str
    resource_version: str
    """The version of the pod that was judged."""
    state: State
    reason: str
    """One of `EntryReason`, or a value of a later version."""
    since: datetime
    """When this book first had this state for this reason."""
    inferred: bool = False
    """Whether the scheduler hasn't tried the pod itself yet."""
