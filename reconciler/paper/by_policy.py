"""What each scaling policy would buy for the pods of now, on paper.

A pool that follows another policy gets the one that is asked about, with the settings that its spec
has for it, or else their defaults. The policy is asked as in the first pass of a leader, and
planning then buys what it wants and fills it with pods, but buys nothing more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from growth.api.scaling import Scaling, ScalingPolicyName
from growth.api.scaling_desired import DesiredScaling
from growth.demand.demanded import Demanded
from growth.demand.entry import DemandEntry, EntryReason, State
from reconciler import scaling
from reconciler.buying.offers import Shelf, shelf
from reconciler.paper.planned import NOW, plan_offline
from reconciler.planning.ledger import PlanningLedger
from reconciler.scaling.ledger import ScalingLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.api.nodepool import NodePool, NodePoolSpec
    from growth.instant import Instant
    from growth.keeping.size import PoolSize
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.paper.planned import PlanOnPaper
    from reconciler.solver import Plan, Problem


def plan_by_policy(
    world: World,
    policy: ScalingPolicyName,
    solve: Callable[[Problem], Plan],
    *,
    now: Instant = NOW,
) -> PlanOnPaper:
    """The plan if all pools followed this policy."""
    pools = {name: pool_following(pool, policy) for name, pool in world.pools.items()}
    asked = msgspec.structs.replace(world, pools=pools)
    if policy is not ScalingPolicyName.DEMAND:
        demanded = _without_room(asked, solve, now)
        sizes = scaling.decide(_seen_by_a_leader(asked, demanded, now), now).section.sizes
        wanted = {name: _filled(size) for name, size in sizes.items()}
        ledger = replace(asked.ledger, scaling=ScalingLedger(sizes=wanted))
        return _bought_and_filled(asked.remembering(ledger), solve, now)
    return plan_offline(asked, solve, now=now)


def _bought_and_filled(world: World, solve: Callable[[Problem], Plan], now: Instant) -> PlanOnPaper:
    """The machines first, and then the pods on them, as it comes to pass in a cluster."""
    bought = plan_offline(msgspec.structs.replace(world, pending={}), solve, now=now)
    coming = {**world.requests, **bought.requests}
    filled = plan_offline(msgspec.structs.replace(world, requests=coming), solve, now=now)
    plan: PlanOnPaper = msgspec.structs.replace(
        filled, requests=bought.requests, items=bought.items, plans=(*bought.plans, *filled.plans)
    )
    return plan


def pool_following(pool: NodePool, policy: ScalingPolicyName) -> NodePool:
    """The pool with this policy."""
    spec = pool.spec.model_copy(update={"scaling": _scaling_of(pool.spec, policy)})
    return pool.model_copy(update={"spec": spec})


def _scaling_of(spec: NodePoolSpec, policy: ScalingPolicyName) -> Scaling:
    known = spec.scaling
    match policy:
        case ScalingPolicyName.DEMAND:
            return Scaling()
        case ScalingPolicyName.UTILISATION:
            return Scaling(policy=policy, utilisation=known.utilisation)
        case ScalingPolicyName.DESIRED:
            desired = known.desired or DesiredScaling(
                min_nodes=sum(entry.min for entry in spec.server_types),
                max_nodes=max(1, sum(entry.max for entry in spec.server_types)),
            )
            # The end is asked for, and not the first step.
            at_once = desired.model_copy(update={"scale_up_batch_size": 0})
            return Scaling(policy=policy, desired=at_once)


def _without_room(
    world: World, solve: Callable[[Problem], Plan], now: Instant
) -> Mapping[str, Pod]:
    """The pods for which the nodes that exist have no room: only these are demand."""
    if not world.cluster.nodes:
        return world.pending
    pools = {
        name: pool_following(pool, ScalingPolicyName.DEMAND) for name, pool in world.pools.items()
    }
    paper = plan_offline(msgspec.structs.replace(world, pools=pools), solve, now=now)
    housed = {
        pod.metadata.uid
        for name, pods in paper.pods.items()
        for pod in pods
        if name not in paper.requests
    }
    return {uid: pod for uid, pod in world.pending.items() if uid not in housed}


def _seen_by_a_leader(world: World, demanded: Mapping[str, Pod], now: Instant) -> World:
    """With these pods as demand, and nothing that holds a policy back."""
    entries = {uid: _entry(pod, now) for uid, pod in demanded.items()}
    brakes = replace(world.ledger.brakes, may_act=True, may_remove=True, reason="")
    planning = PlanningLedger(shelf=shelf(world, Shelf()))
    ledger = replace(world.ledger, brakes=brakes, planning=planning)
    seen: World = msgspec.structs.replace(world, demand=Demanded(entries), ledger=ledger)
    return seen


def _entry(pod: Pod, now: Instant) -> DemandEntry:
    return DemandEntry(
        uid=pod.metadata.uid,
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        resource_version=pod.metadata.resource_version,
        state=State.DEMAND,
        reason=EntryReason.UNSCHEDULABLE,
        since=now.wall,
    )


def _filled(size: PoolSize) -> PoolSize:
    """What the policy wants, with its pods on it, and nothing more."""
    of_one_type = sum(each.count for each in size.floors if len(each.types) == 1)
    of_any = max((each.count for each in size.floors if len(each.types) > 1), default=0)
    most = max(of_one_type, of_any)
    filled: PoolSize = msgspec.structs.replace(size, serves_demand=True, most=most)
    return filled
