"""What the reason for which a node is kept depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from growth.api.nodepool import NodePool, PaidHour
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.keeping.wanting import KnownPause
from growth.scheduling.cluster import Cluster

BIND_WAIT: Final = 15.0
"""Seconds that a node which serves has for its pods."""


class KeepingScene(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers depend on."""

    cluster: Cluster
    pools: Mapping[str, NodePool]
    requests: Mapping[str, NodeRequest] = {}
    removals: Mapping[str, NodeRemovalRequest] = {}
    promises: frozenset[str] = frozenset()
    """The nodes that pods wait for."""
    in_place_of: Mapping[str, str] = {}
    """Nodes that came for others, by name: one that goes when this one serves."""
    pauses: Mapping[str, KnownPause] = {}
    paid_hours: Mapping[str, PaidHour] = {}
    """What is done with hours that are paid, by pool."""
    bind_wait: float = BIND_WAIT
