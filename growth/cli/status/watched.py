"""What `growth status` and `growth watch` read from a cluster, in one go."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from growth.api.kinds import NODE_CLASSES
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL
from growth.cli.cluster.lists import together
from growth.cli.cluster.names import ShortNames
from growth.cli.cluster.trouble import trouble_in_time
from growth.cli.terminal.money import currency_of
from growth.errors import RetryLater
from growth.scheduling.objects import decode_node, decode_pod

if TYPE_CHECKING:
    from growth.api.meta import CustomResource
    from growth.api.nodeclass import NodeClass
    from growth.cli.cluster.lists import Lists
    from growth.cli.cluster.survey import Survey
    from growth.cli.cluster.trouble import Trouble
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

NODES: Final = "/api/v1/nodes"
PODS: Final = "/api/v1/pods"


@dataclass(frozen=True, kw_only=True)
class WatchedCluster:
    """Pools, machines on their way or leaving, growth's nodes, and pending pods."""

    pools: tuple[NodePool, ...] = ()
    requests: tuple[NodeRequest, ...] = ()
    removals: tuple[NodeRemovalRequest, ...] = ()
    nodes: tuple[Node, ...] = ()
    pending: tuple[Pod, ...] = ()
    unreadable: tuple[str, ...] = field(default=())
    """Objects that were left out: kind and name."""
    currency: str = ""
    """The currency of all prices, if it is known."""
    trouble: Trouble | None = None
    """What is wrong with growth itself."""

    @property
    def names(self) -> ShortNames:
        """Short names of nodes, requests and removals."""
        ours: tuple[Node | CustomResource, ...] = (*self.nodes, *self.requests, *self.removals)
        return ShortNames(each.name for each in ours)


NOTHING: Final = WatchedCluster()
"""The state before the first read."""


def watched_in(seen: Survey) -> WatchedCluster:
    """The part of a survey that these commands show."""
    scene = seen.scene
    return WatchedCluster(
        pools=tuple(scene.pools.values()),
        requests=tuple(scene.requests.values()),
        removals=tuple(scene.removals.values()),
        nodes=tuple(scene.cluster.nodes[name] for name in seen.kept),
        pending=seen.pending,
        unreadable=seen.unreadable,
        currency=seen.currency,
        trouble=seen.trouble,
    )


async def watched(lists: Lists, before: WatchedCluster = NOTHING) -> WatchedCluster:
    """Read everything concurrently; kinds that aren't installed are reported in one line."""
    pools, requests, removals, classes, nodes, pending = await asyncio.gather(
        lists.ours(NodePool),
        lists.ours(NodeRequest),
        lists.ours(NodeRemovalRequest),
        _node_classes(lists),
        lists.all_of(NODES, decode_node, {"labelSelector": f"{MANAGED_BY_LABEL}={MANAGED_BY}"}),
        lists.all_of(PODS, decode_pod, {"fieldSelector": "spec.nodeName=,status.phase=Pending"}),
    )
    return WatchedCluster(
        pools=pools,
        requests=requests,
        removals=removals,
        nodes=nodes,
        pending=pending,
        currency=currency_of(classes),
        unreadable=lists.unreadable,
        trouble=await _trouble(lists, before),
    )


async def _node_classes(lists: Lists) -> list[NodeClass]:
    listed = await together(lists.ours(kind) for kind in NODE_CLASSES.values())
    return [each for several in listed for each in several]


async def _trouble(lists: Lists, before: WatchedCluster) -> Trouble | None:
    """The trouble; if the answer is late, the previous one, or growth would seem to recover."""
    try:
        return await trouble_in_time(lists)
    except RetryLater:
        return before.trouble
