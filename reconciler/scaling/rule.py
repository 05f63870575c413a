"""Each pool's policy is asked, before anything is planned or given back.

The answers are data that the rules after this one read: planning buys up to the floors and not
beyond the most, removal gives back the surplus. This rule itself starts nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from growth.api.scaling import ScalingPolicyName
from growth.keeping.size import STILL
from reconciler.core.decision import Decision, earliest
from reconciler.scaling.ledger import ScalingLedger
from reconciler.scaling.registry import POLICIES
from reconciler.scaling.scene import scaling_scene_of

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.keeping.size import PoolSize
    from reconciler.core.world import World
    from reconciler.scaling.registry import Policies


def decide(world: World, now: Instant, policies: Policies = POLICIES) -> Decision[ScalingLedger]:
    """The size of each pool at this moment."""
    before = world.ledger.scaling
    if any(pool.spec.scaling.policy != ScalingPolicyName.DEMAND for pool in world.pools.values()):
        shared = replace(before, scene=scaling_scene_of(world))
        world = world.remembering(replace(world.ledger, scaling=shared))
    sizes = {name: _size(world, pool, now, policies) for name, pool in world.pools.items()}
    return Decision(
        section=ScalingLedger(sizes=sizes),
        wake_at=earliest(size.wake_at for size in sizes.values()),
    )


def _size(world: World, pool: NodePool, now: Instant, policies: Policies) -> PoolSize:
    policy = policies.get(pool.spec.scaling.policy)
    # A pool of a newer version of growth, or of an older one: its nodes stay as they are.
    return STILL if policy is None else policy(world, pool, now)
