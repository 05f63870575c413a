"""The decision of the policy: a number of nodes, what is missing of it, and which nodes go.

The number that the pool keeps is in its status. It follows the spec's number when that is changed,
rises for pending pods, and falls when a badly used node goes. A node only goes after the status
says so, so a restart at any moment finds the same number.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.scaling import ScalingPolicyName
from growth.api.scaling_status import ScalingHold, ScalingStep
from growth.keeping.size import Floor, PoolSize, size_in_status
from reconciler.core.measured import READ_EVERY
from reconciler.scaling.desired.counting import SizeCounts, clamped_count
from reconciler.scaling.desired.growing import PodsWaiting, next_type, raised_for_pods
from reconciler.scaling.desired.scene import group_scene, machines_by_type, number_fields
from reconciler.scaling.desired.shrinking import Going, ShrinkScene, chosen_to_go, pace_now
from reconciler.scaling.desired.types import NoTypeAvailable

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.scaling.desired.scene import GroupScene

UNDERUTILIZED: Final = "Underutilized"
"""The reason for which nodes go because they are used little."""


def sized_by_number(world: World, pool: NodePool, now: Instant) -> PoolSize:
    """The size of a pool that is kept at a number of nodes."""
    scene = group_scene(pool, world, now)
    before = _before(pool, world)
    counts = _counts(pool, scene, before)
    pods = raised_for_pods(
        pool, scene, world, counts=counts, elapsed=_since(before.scaled_up_at, now)
    )
    if pods.desired is not None:
        counts = msgspec.structs.replace(counts, desired=pods.desired)
    going = _going(pool, scene, world, now, counts=counts, before=before, pods=pods)
    counts = msgspec.structs.replace(counts, desired=_left(counts, going))
    size = _sized(pool, scene, world, now, counts=counts, before=before, pods=pods, going=going)
    return _calm(size, before, now)


def _calm(size: PoolSize, before: PoolSize, now: Instant) -> PoolSize:
    """With the numbers told before, if nothing else is new: they change with each pod.

    Numbers that were told some time ago are told anew.
    """
    told = {"seen": before.seen, "why": before.why, "wake_at": before.wake_at}
    as_before = msgspec.structs.replace(size, **told)
    is_recent = now.monotonic < before.wake_at < inf
    return as_before if is_recent and as_before == before else size


def _before(pool: NodePool, world: World) -> PoolSize:
    """The last decision: of the last pass, or else as the status tells it."""
    known = world.ledger.scaling.sizes.get(pool.name)
    if known is not None and known.desired is not None:
        return known
    status = pool.status.scaling
    if status is None or status.policy != ScalingPolicyName.DESIRED:
        return PoolSize()
    return size_in_status(pool)


def _counts(pool: NodePool, scene: GroupScene, before: PoolSize) -> SizeCounts:
    """The counts, with the number that is kept before pods and use have a say."""
    fields = number_fields(pool)
    if before.desired is None:
        # A policy that begins with a pool that has nodes does nothing sudden.
        desired = max(fields.desired_nodes, scene.current)
    elif before.requested != fields.desired_nodes:
        desired = fields.desired_nodes
    else:
        desired = before.desired
    bounds = {"least": fields.min_nodes, "most": fields.max_nodes}
    return SizeCounts(current=scene.current, desired=clamped_count(desired, **bounds), **bounds)


def _since(moment: datetime | None, now: Instant) -> float | None:
    return None if moment is None else max(now.seconds_since(moment), 0.0)


def _going(
    pool: NodePool,
    scene: GroupScene,
    world: World,
    now: Instant,
    *,
    counts: SizeCounts,
    before: PoolSize,
    pods: PodsWaiting,
) -> Going:
    # While nodes are missing, or pods wait, nothing goes.
    if pods.pods or counts.needs_more:
        return Going()
    times = [each for each in (before.scaled_up_at, before.scaled_down_at) if each is not None]
    fields = number_fields(pool)
    names = {node.name for node in scene.nodes}
    return chosen_to_go(
        ShrinkScene(
            pool=pool,
            scene=scene,
            world=world,
            now=now,
            counts=counts,
            before=(before.surplus or frozenset()) & names,
            scaled_at=max(times, default=None),
            was_for_use=before.reason == UNDERUTILIZED,
            pace=pace_now(pool, now.wall),
            floor=max(counts.least, min(fields.desired_nodes, fields.max_nodes)),
        )
    )


def _left(counts: SizeCounts, going: Going) -> int:
    """The number that is left when the chosen nodes are gone."""
    kept_on = counts.desired + going.kept_on
    return min(kept_on, counts.current - len(going.names)) if going.names else kept_on


def _sized(
    pool: NodePool,
    scene: GroupScene,
    world: World,
    now: Instant,
    *,
    counts: SizeCounts,
    before: PoolSize,
    pods: PodsWaiting,
    going: Going,
) -> PoolSize:
    floors, failed = _floors(pool, scene, world, counts=counts)
    missing = max(counts.missing(), 0)
    surplus = frozenset(going.names)
    written = pool.status.scaling
    grows, shrinks = missing > 0, bool(surplus)
    more = grows and (before.desired is None or before.desired < counts.desired)
    fewer = bool(surplus - (before.surplus or frozenset()))
    holds = (*([failed] if failed is not None else ()), *going.holds)
    why, reason = _why(counts, scene, pods=pods, going=going, failed=failed)
    step = ScalingStep.UP if grows else ScalingStep.DOWN if shrinks else ScalingStep.NONE
    return PoolSize(
        floors=floors,
        most=counts.desired if shrinks else int(counts.most),
        surplus=surplus,
        # What goes has to be in the status first: after a restart, growth must know its number.
        drains=written is not None and surplus <= frozenset(written.surplus),
        why=why,
        reason=reason,
        step=step,
        change=missing or -len(surplus),
        seen=(
            ("currentNodes", scene.current),
            ("readyNodes", sum(node.is_ready for node in scene.nodes)),
            ("desiredNodes", counts.desired),
            ("pendingPods", pods.pods),
            ("underusedNodes", len(going.underused)),
            ("unmeasuredNodes", going.unmeasured),
        ),
        holds=holds,
        scaled_up_at=now.wall if more else before.scaled_up_at,
        scaled_down_at=now.wall if fewer else before.scaled_down_at,
        desired=counts.desired,
        requested=number_fields(pool).desired_nodes,
        wake_at=now.monotonic + READ_EVERY,
    )


def _floors(
    pool: NodePool, scene: GroupScene, world: World, *, counts: SizeCounts
) -> tuple[tuple[Floor, ...], ScalingHold | None]:
    """What is bought now: the missing nodes, at most a batch at a time, all of one type."""
    batch = number_fields(pool).scale_up_batch_size
    step = counts.missing(batch=max(batch - scene.coming, 0) if batch else 0)
    if step <= 0 or (batch and scene.coming >= batch):
        return (), None
    chosen = next_type(pool, world)
    if isinstance(chosen, NoTypeAvailable):
        is_known = bool(world.ledger.planning.shelf.pools)
        hold = ScalingHold(reason="Limited", message=chosen.why)
        return (), hold if is_known else None
    have = machines_by_type(pool, world).get(chosen.type, 0)
    return (Floor(types=frozenset({chosen.type}), count=have + step),), None


def _why(
    counts: SizeCounts,
    scene: GroupScene,
    *,
    pods: PodsWaiting,
    going: Going,
    failed: ScalingHold | None,
) -> tuple[str, str]:
    """The reason in words and as one word."""
    told = f"{scene.current} of {counts.desired} wanted nodes"
    reasons = (
        (failed is not None, f": {failed.message}" if failed else "", "Limited"),
        (scene.current < counts.least, f": minNodes is {counts.least}", "BelowMinimum"),
        (counts.needs_more and pods.pods, f": {pods.pods} pods wait for more", "PendingPods"),
        (counts.needs_more, ": the missing ones are bought", "BelowDesired"),
        (going.is_for_use, f": {', '.join(going.names)} go, being used little", UNDERUTILIZED),
        (going.names, f": {', '.join(going.names)} go", "AboveDesired"),
        (scene.current > counts.desired, ": something holds the others back", "AboveDesired"),
    )
    found = ((f"{told}{words}", reason) for holds, words, reason in reasons if holds)
    return next(found, (told, "AtDesired"))
