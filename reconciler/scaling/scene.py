"""What the policies of several pools look at, put together once for each pass."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderequest import COMING, NodeRequest
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from reconciler.facts.fleet import CountedMachine, Fleet, fleet
from reconciler.facts.ownership import pool_of_node
from reconciler.facts.requested import all_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reconciler.core.world import World


class ScalingScene(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Machines, purchases and nodes by pool, and the pods that have no node."""

    fleet: Fleet
    machines: dict[str, dict[str, CountedMachine]]
    coming: dict[str, tuple[NodeRequest, ...]]
    """Purchases whose machine doesn't serve yet."""
    nodes: dict[str, tuple[Node, ...]]
    pending: tuple[Pod, ...]

    def waiting_for(self, pool: str, pools_of: Callable[[Pod], Iterable[str]]) -> tuple[Pod, ...]:
        """The pods without a node that count for this pool; sorted once for all pools."""
        known = self.__dict__.get("waiting")
        if known is None:
            known = _by_pool(self.pending, pools_of)
            self.__dict__["waiting"] = known
        found: Mapping[str, tuple[Pod, ...]] = known
        return found.get(pool, ())


def _by_pool(
    pods: Iterable[Pod], pools_of: Callable[[Pod], Iterable[str]]
) -> dict[str, tuple[Pod, ...]]:
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        for pool in pools_of(pod):
            found[pool].append(pod)
    return {name: tuple(waiting) for name, waiting in found.items()}


def scaling_scene(world: World) -> ScalingScene:
    """The scene of this pass."""
    known = world.ledger.scaling.scene
    return scaling_scene_of(world) if known is None else known


def scaling_scene_of(world: World) -> ScalingScene:
    """A new scene."""
    requests = all_requests(world)
    everything = fleet(world, requests.values())
    machines: defaultdict[str, dict[str, CountedMachine]] = defaultdict(dict)
    for name, each in everything.machines.items():
        machines[each.pool][name] = each
    coming: defaultdict[str, list[NodeRequest]] = defaultdict(list)
    for request in requests.values():
        if request.status.phase in COMING:
            coming[request.spec.pool].append(request)
    return ScalingScene(
        fleet=everything,
        machines=dict(machines),
        coming={name: tuple(each) for name, each in coming.items()},
        nodes=world.cluster.remembered("nodes of scaled pools", lambda: _nodes_by_pool(world)),
        pending=tuple(world.pending.values()),
    )


def _nodes_by_pool(world: World) -> dict[str, tuple[Node, ...]]:
    found: defaultdict[str, list[Node]] = defaultdict(list)
    for node in world.cluster.ordered_nodes:
        if name := pool_of_node(node):
            found[name].append(node)
    return {name: tuple(nodes) for name, nodes in found.items()}
