"""The cluster as it would be if growth had served the pools that only observe."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from growth.api.nodepool import PoolMode
from growth.api.written import write_time
from growth.demand.pools import UsablePools, match_pools, wish_of
from growth.keeping.marks import pool_of_node
from growth.scheduling.pod_spec import PodStatus
from reconciler.buying.offers import shelf
from reconciler.planning.ledger import PlanningLedger

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.observing.ledger import ObservingLedger


class ShadowScene(NamedTuple):
    """What an observation looks at."""

    world: World
    """The world without what others have added, and with what growth would have bought."""
    others: Mapping[str, Node]
    """The nodes that others have added since the observation began."""
    wanting: Mapping[str, Pod]
    """Pods that need a place in that world."""
    freed: Mapping[str, tuple[Pod, Pod]]


def scene_without_others(
    world: World, ledger: ObservingLedger, pools: Mapping[str, NodePool]
) -> ShadowScene:
    """The scene of these pools."""
    theirs = nodes_of_others(world, since=min(each.since for each in ledger.tallies.values()))
    freed = dict(_freed(theirs, world, ledger.freed))
    free = {uid: waits for uid, (_, waits) in freed.items()}
    nodes = {name: node for name, node in world.cluster.nodes.items() if name not in theirs}
    acting = {name: _acting(pool) for name, pool in pools.items()}
    brakes = world.ledger.brakes
    pauses = {name: each for name, each in brakes.pauses.items() if not each.is_of_mode}
    shadow = msgspec.structs.replace(
        world,
        cluster=msgspec.structs.replace(world.cluster, nodes=nodes),
        pending={**world.pending, **free},
        requests={name: each.request for name, each in ledger.machines.items()},
        removals={},
        pools=acting,
        mode=PoolMode.ACT,
    )
    items = shelf(shadow, ledger.shelf)
    planning = PlanningLedger(
        shelf=items,
        refusals=world.ledger.planning.refusals,
        nominated=ledger.seats,
        bought=ledger.bought,
    )
    shadow = shadow.remembering(
        replace(world.ledger, brakes=replace(brakes, pauses=pauses), planning=planning)
    )
    demanded = {uid: pod for uid, pod in world.pending.items() if world.demand.is_demand(uid)}
    return ShadowScene(shadow, theirs, {**demanded, **free}, freed)


def nodes_of_others(world: World, *, since: datetime) -> Mapping[str, Node]:
    """The nodes that joined since a moment and that growth hasn't bought."""
    # Times of the API server are whole seconds in one form, so texts compare as times do.
    moment = write_time(since.replace(microsecond=0))
    return {
        name: node
        for name, node in sorted(world.cluster.nodes.items())
        if (node.metadata.creation_timestamp or "") >= moment and not pool_of_node(node)
    }


def is_for_observer(pod: Pod, world: World) -> bool:
    """Whether all pools that a pod may use only observe, so that growth serves it in none."""
    verdict = match_pools(wish_of(pod), world.pools)
    return isinstance(verdict, UsablePools) and all(map(world.only_observes, verdict.names))


def _freed(
    theirs: Mapping[str, Node], world: World, before: Mapping[str, tuple[Pod, Pod]]
) -> Iterator[tuple[str, tuple[Pod, Pod]]]:
    """The pods of these nodes that would have needed another one."""
    for name in theirs:
        for pod in world.cluster.occupancy(name).keepers:
            known = before.get(pod.metadata.uid)
            is_same = known is not None and known[0] is pod
            if pod.is_terminating:
                continue
            yield pod.metadata.uid, known if known and is_same else (pod, _waiting(pod))


def _waiting(pod: Pod) -> Pod:
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return msgspec.structs.replace(pod, spec=spec, status=PodStatus(phase="Pending"))


def _acting(pool: NodePool) -> NodePool:
    if pool.spec.mode is PoolMode.ACT:
        return pool
    return pool.model_copy(update={"spec": pool.spec.model_copy(update={"mode": PoolMode.ACT})})
