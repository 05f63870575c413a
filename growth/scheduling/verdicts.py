"""The verdict on a pod and a node: it fits, or why not.

Reasons are a closed set, one for each problem with a different fix. The text has the names and
numbers.
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec


class RejectionReason(enum.Enum):
    """Why a pod does not fit."""

    GATED = "it is held back by its scheduling gates"
    NODE_UNSCHEDULABLE = "the node is cordoned"
    OTHER_NODE = "the pod names another node"
    TAINT = "the node has a taint that the pod doesn't tolerate"
    NODE_AFFINITY = "the pod asks for other nodes"
    HOST_PORT = "a host port is taken"
    RESOURCES = "too little is left on the node"
    CLAIM = "a volume claim can't be used yet"
    VOLUME_IN_USE = "a volume is in use elsewhere"
    ATTACH_LIMIT = "the node holds as many volumes as it can"
    DRIVER_MISSING = "a storage driver isn't on the node"
    VOLUME_ELSEWHERE = "a volume can't be reached from the node"
    NO_VOLUME = "no volume is there for a claim, and none can be made"
    TOPOLOGY_SPREAD = "its like would be spread too unevenly"
    POD_AFFINITY = "the pods it must be near aren't there"
    POD_ANTI_AFFINITY = "pods are there that it must not be near"
    REPELLED = "a pod is there that must not have it near"


class Fits(msgspec.Struct, frozen=True, gc=False):
    """The scheduler could bind the pod to the node now."""


class Rejected(msgspec.Struct, frozen=True, gc=False):
    """The scheduler would reject the node for the pod."""

    reason: RejectionReason
    text: str


Verdict = Fits | Rejected

FITS: Final = Fits()
