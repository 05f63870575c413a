"""What the policy sees of one pool: its nodes, what is on its way, and the pods that wait."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import COMING, RequestPhase
from growth.api.scaling import ScalingPolicyName
from growth.api.scaling_desired import DesiredScaling
from growth.demand.pools import UsablePools, match_pools, wish_of
from growth.keeping.marks import is_cordoned_by_a_person, type_of_node
from growth.keeping.scene import BIND_WAIT
from growth.scheduling.node import Node
from reconciler.facts.fleet import may_have_machine
from reconciler.facts.requested import all_requests
from reconciler.scaling.desired.matching import match_score
from reconciler.scaling.scene import scaling_scene

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.api.written import ServerTypeName
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World


class GroupScene(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of one pool; nodes that a person has cordoned are in none of them."""

    nodes: tuple[Node, ...] = ()
    """Nodes that serve or have served, and stay, by name."""
    leaving: int = 0
    """Nodes that are being removed."""
    coming: int = 0
    """Machines on their way, until their nodes serve."""
    fresh: int = 0
    """Machines that have just begun to serve: the scheduler may not have seen them yet."""

    @property
    def current(self) -> int:
        """The nodes that the pool has or will have."""
        return len(self.nodes) + self.coming


def number_fields(pool: NodePool) -> DesiredScaling:
    """The pool's own fields of the policy."""
    return pool.spec.scaling.desired or DesiredScaling()


def goes_by_number(pool: NodePool) -> bool:
    """Whether the pool has this policy."""
    return pool.spec.scaling.policy == ScalingPolicyName.DESIRED


def group_scene(pool: NodePool, world: World, now: Instant) -> GroupScene:
    """The scene of a pool."""
    there = scaling_scene(world).nodes.get(pool.name, ())
    leaving = [node for node in there if _is_leaving(node.name, world)]
    requests = _requests_of(pool, world)
    coming = frozenset(each.node for each in requests if each.status.phase in COMING)
    return GroupScene(
        nodes=tuple(
            node
            for node in there
            if node.name not in coming
            and not _is_leaving(node.name, world)
            and not is_cordoned_by_a_person(node)
        ),
        leaving=len(leaving),
        coming=len(coming),
        fresh=sum(_is_fresh(each, now) for each in requests),
    )


def machines_by_type(pool: NodePool, world: World) -> Mapping[ServerTypeName, int]:
    """All machines of each type, as the floors of a size count them."""
    there = scaling_scene(world).nodes.get(pool.name, ())
    names = {node.name for node in there}
    found = Counter(type_of_node(node) for node in there)
    found.update(
        each.spec.server_type for each in _requests_of(pool, world) if each.node not in names
    )
    return found


def _requests_of(pool: NodePool, world: World) -> list[NodeRequest]:
    by_pool = scaling_scene(world).remembered("purchases", partial(_by_pool, world))
    return by_pool.get(pool.name, [])


def _by_pool(world: World) -> Mapping[str, list[NodeRequest]]:
    found: defaultdict[str, list[NodeRequest]] = defaultdict(list)
    for each in all_requests(world).values():
        if may_have_machine(each, world):
            found[each.spec.pool].append(each)
    return found


def _is_leaving(name: str, world: World) -> bool:
    removal = world.removals.get(name)
    return removal is not None and removal.status.phase is not RemovalPhase.REMOVAL_FAILED


def _is_fresh(request: NodeRequest, now: Instant) -> bool:
    at = request.status.ready_at
    is_ready = request.status.phase is RequestPhase.READY and at is not None
    return is_ready and at is not None and 0 <= now.seconds_since(at) < BIND_WAIT


def waiting_pods(pool: NodePool, world: World) -> tuple[Pod, ...]:
    """The pods without a place that this pool counts, by name.

    A pod that any pool of the policy Demand may serve is left to it, and one that several pools of
    this policy may serve is counted by the one that suits best: none is counted twice.
    """
    by_pool = scaling_scene(world).remembered("waiting pods", partial(_waiting, world))
    return by_pool.get(pool.name, ())


def _waiting(world: World) -> Mapping[str, tuple[Pod, ...]]:
    pods = (pod for uid, pod in world.pending.items() if world.demand.is_demand(uid))
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in sorted(pods, key=lambda each: (each.name, each.metadata.uid)):
        found[_counted_by(pod, world)].append(pod)
    return {name: tuple(counted) for name, counted in found.items()}


def _counted_by(pod: Pod, world: World) -> str:
    verdict = match_pools(wish_of(pod), world.pools)
    if not isinstance(verdict, UsablePools):
        return ""
    pools = [world.pools[name] for name in sorted(verdict.names)]
    if not all(map(goes_by_number, pools)):
        return ""
    return max(pools, key=_suits).name


def _suits(pool: NodePool) -> int:
    """How well a pool suits a pod; of equal ones, the first by name."""
    fields, status = number_fields(pool), pool.status.scaling
    desired = (status.desired_nodes if status is not None else None) or fields.desired_nodes
    has_preference = fields.preferred_instance_type is not None
    return match_score(
        pods=1, desired=desired, most=fields.max_nodes, has_preference=has_preference
    )
