"""What the policies of several pools look at, put together once for each pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderequest import COMING, NodeRequest
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.scheduling.remembering import Remembers
from reconciler.facts.fleet import CountedMachine, Fleet, fleet
from reconciler.facts.ownership import nodes_by_pool
from reconciler.facts.requested import all_requests
from reconciler.scaling.pass_share import PassShare

if TYPE_CHECKING:
    from reconciler.core.world import World


class ScalingScene(Remembers, frozen=True, kw_only=True, dict=True):
    """Machines, purchases and nodes by pool, and the pods that have no node.

    What else is the same for all pools of a policy is remembered here: counted once in a pass.
    """

    fleet: Fleet
    machines: dict[str, dict[str, CountedMachine]]
    coming: dict[str, tuple[NodeRequest, ...]]
    """Purchases whose machine doesn't serve yet."""
    nodes: Mapping[str, tuple[Node, ...]]
    pending: tuple[Pod, ...]
    share: PassShare = msgspec.field(default_factory=PassShare)
    """What the policies may still look at in this pass."""


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
        nodes=nodes_by_pool(world.cluster),
        pending=tuple(world.pending.values()),
    )
