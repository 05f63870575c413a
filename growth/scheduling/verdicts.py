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

    # In the order of the scheduler's filters. The explanation of a plan counts in this order how
    # many offers each of them leaves.
    GATED = "the pod has scheduling gates"
    NODE_UNSCHEDULABLE = "the node is cordoned"
    OTHER_NODE = "the pod requires another node"
    TAINT = "the node has a taint that the pod doesn't tolerate"
    NODE_AFFINITY = "the node doesn't match the pod's node selector or affinity"
    HOST_PORT = "a host port is in use"
    RESOURCES = "the node has too few free resources"
    CLAIM = "a volume claim isn't ready"
    VOLUME_IN_USE = "a volume is in use on another node"
    ATTACH_LIMIT = "the node has reached its volume limit"
    DRIVER_MISSING = "the node lacks a storage driver"
    VOLUME_ELSEWHERE = "a volume can't be reached from the node"
    NO_VOLUME = "a claim has no volume, and none can be provisioned"
    TOPOLOGY_SPREAD = "a topology spread constraint would be violated"
    POD_AFFINITY = "the node doesn't match the pod's affinity rules"
    POD_ANTI_AFFINITY = "the node doesn't match the pod's anti-affinity rules"
    REPELLED = "a pod on the node has anti-affinity to the pod"


class Fits(msgspec.Struct, frozen=True, gc=False):
    """The scheduler could bind the pod to the node now."""


class Rejected(msgspec.Struct, frozen=True, gc=False):
    """The scheduler would reject the node for the pod."""

    reason: RejectionReason
    text: str


Verdict = Fits | Rejected

FITS: Final = Fits()
