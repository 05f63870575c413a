"""The caches of this process: pods, nodes, and growth's own objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from extender.outline import decode_outline
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.kube.cache.caches import Caches
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import WatchedResource
from growth.scheduling.objects import Node, Pod, decode_node

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from growth.api.meta import CustomResource as ApiResource
    from growth.kube.cache.contents import Change
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer


@dataclass(frozen=True, kw_only=True)
class Followers:
    """The functions that handle the changes of each kind."""

    pods: Callable[[Sequence[Change[Pod]]], None]
    nodes: Callable[[Sequence[Change[Node]]], None]
    pools: Callable[[Sequence[Change[NodePool]]], None]
    requests: Callable[[Sequence[Change[NodeRequest]]], None]
    removals: Callable[[Sequence[Change[NodeRemovalRequest]]], None]


class ExtenderSources(Caches):
    """The caches of the extender."""

    def __init__(
        self, server: ApiServer, followers: Followers, *, metrics: CacheMetrics, chance: Random
    ) -> None:
        make = partial(Reflector[Any], server=server, metrics=metrics, chance=chance)
        watched = (
            (WatchedResource(path="/api/v1/pods", decode=decode_outline), followers.pods),
            (WatchedResource(path="/api/v1/nodes", decode=decode_node), followers.nodes),
            (_own(NodePool), followers.pools),
            (_own(NodeRequest), followers.requests),
            (_own(NodeRemovalRequest), followers.removals),
        )
        super().__init__(
            {
                resource.name: make(resource=resource, changed=changed)
                for resource, changed in watched
            }
        )


def _own(kind: type[ApiResource]) -> WatchedResource[Any]:
    return WatchedResource(path=kind.collection(), decode=kind.model_validate_json)
