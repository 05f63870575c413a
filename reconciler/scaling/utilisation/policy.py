"""The policy in the loop: a run when its interval is over, or earlier when pods wait.

Between two runs, the last decision stands. It is in the ledger, and after a restart in the pool's
status, in the taints of its nodes with their times, and in its NodeRequests. What is done about it
is said by `PoolSize` alone: floors are bought, closed nodes bear the mark, the surplus goes when it
is empty, and what is overdue is drained.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final
from zlib import crc32

import msgspec

from growth.api.scaling_status import ScalingHold, ScalingStep
from growth.keeping.size import PoolSize
from reconciler.scaling.scene import scaling_scene
from reconciler.scaling.utilisation.bought import Purchase, purchase_for, with_purchase
from reconciler.scaling.utilisation.deciding import RunReason, raised_to_minimum, run_once
from reconciler.scaling.utilisation.looking import LOCK, group_looked_at, locked_counts, look_at
from reconciler.scaling.utilisation.marks import MARKS_READ, is_marked_by
from reconciler.scaling.utilisation.nodes import node_classes_of
from reconciler.scaling.utilisation.sizing import (
    apart_after,
    base_floors,
    blind_hold,
    size_after,
)

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.scaling.utilisation.deciding import Run
    from reconciler.scaling.utilisation.group import Group
    from reconciler.scaling.utilisation.looking import PoolLook

BETWEEN_LOOKS: Final = 1.0
"""Seconds between two looks at a pool for which pods wait, or whose lock is closed."""
EARLY: Final = 0.1
"""The part of an interval over which the runs of pools are spread."""
NOT_DECIDED: Final = "its utilisation hasn't been looked at yet"


def sized_by_utilisation(world: World, pool: NodePool, now: Instant) -> PoolSize:
    """What the pool should have."""
    if pool.metadata.deletion_timestamp is not None:
        # Its nodes are drained or retained, and a retained node keeps no mark of growth.
        return PoolSize(why="the pool is being deleted")
    look = look_at(pool, world, now)
    before = look.before or PoolSize(why=NOT_DECIDED)
    if (hold := _why_still(look)) is not None:
        still = {"surplus": frozenset[str](), "overdue": frozenset[str](), "wake_at": inf}
        holds = (hold, *(each for each in before.holds if each.reason == LOCK))
        return _standing(look, msgspec.structs.replace(before, holds=holds, **still))
    return _in_turn(look, before)


def _in_turn(look: PoolLook, before: PoolSize) -> PoolSize:
    """A decision, if it is time for one and this pass has room for it."""
    now = look.now.monotonic
    is_due = _is_due(look, before)
    is_urgent = _is_urgent(look, before) and now >= before.looked_at + BETWEEN_LOOKS
    if not (is_due or is_urgent):
        return _standing(look, before)
    if not scaling_scene(look.world).share.takes(_work(look, before)):
        return msgspec.structs.replace(_standing(look, before), wake_at=now)
    if is_due:
        return _decided(look, by_marks=True)
    early = _decided(look, by_marks=False)
    # Nodes are tainted in the interval only, but added, and found to have come, at any time.
    if early.step is ScalingStep.UP or early.holds != before.holds:
        return early
    return _standing(look, msgspec.structs.replace(before, looked_at=now))


def _work(look: PoolLook, before: PoolSize) -> int:
    """How much there is to look at: what pods request is known of all but the first time."""
    if before.decided_at > -inf:
        return len(look.nodes)
    cluster = look.world.cluster
    return sum(1 + len(cluster.occupancy(node.name).pods) for node in look.nodes)


def _why_still(look: PoolLook) -> ScalingHold | None:
    """Why nothing is decided at all."""
    if not look.world.ledger.brakes.may_act:
        return blind_hold(look)
    if look.world.is_paused(look.pool.name) and not look.only_observes:
        return ScalingHold(reason="Paused", message="the pool is paused")
    return None


def _is_due(look: PoolLook, before: PoolSize) -> bool:
    is_same = before.generation == look.pool.metadata.generation
    return not is_same or look.now.monotonic >= _next_run(look, before)


def _next_run(look: PoolLook, before: PoolSize) -> float:
    """A little early, each pool by its own share, so that not all pools have their run at once."""
    share = crc32(look.pool.name.encode()) / 2**32
    return before.decided_at + look.fields.scan_interval.seconds * (1 - EARLY * share)


def _is_urgent(look: PoolLook, before: PoolSize) -> bool:
    return bool(look.waiting) or any(each.reason == LOCK for each in before.holds)


def _standing(look: PoolLook, before: PoolSize) -> PoolSize:
    """The last decision, about the nodes that there are now."""
    closed = _closed_now(look, before)
    is_still = before.wake_at == inf
    urgent = look.now.monotonic + BETWEEN_LOOKS if _is_urgent(look, before) else inf
    return msgspec.structs.replace(
        before,
        closed=closed,
        apart=closed | look.cordoned,
        surplus=(before.surplus or frozenset()) & closed,
        overdue=before.overdue & closed,
        floors=base_floors(look, locked_counts(look)),
        wake_at=inf if is_still else min(urgent, _next_run(look, before)),
    )


def _closed_now(look: PoolLook, before: PoolSize) -> frozenset[str]:
    """Without nodes that are gone, or cordoned meanwhile; before the first run, those marked."""
    if before.decided_at == -inf:
        keys = MARKS_READ[look.fields.escalator_marks]
        marked = (node for node in look.nodes if is_marked_by(node, keys))
        return frozenset(node.name for node in marked) - look.cordoned
    return (before.closed & {node.name for node in look.nodes}) - look.cordoned


def _decided(look: PoolLook, *, by_marks: bool) -> PoolSize:
    group = group_looked_at(look, by_marks=by_marks)
    run = run_once(group)
    if not look.world.ledger.brakes.may_remove:
        run = msgspec.structs.replace(run, taints=(), goes=(), drains=())
    bought = Purchase({})
    if run.reason in {RunReason.NOTHING_THERE, RunReason.BELOW_MINIMUM}:
        run = _at_least(look, group, run)
    elif run.buys and not look.only_observes:
        bought = purchase_for(run, group, look.pool, look.world, look.now)
        run = with_purchase(run, bought)
    return size_after(look, group, _at_most_once_an_interval(look, run), bought)


def _at_least(look: PoolLook, group: Group, run: Run) -> Run:
    """Below its minimum, a pool gets the missing nodes, also without a node or a pod.

    What is on its way already isn't bought again, and closes no second lock.
    """
    if group.options.min_nodes == 0:
        return run
    raised = raised_to_minimum(group)
    apart = apart_after(node_classes_of(group.nodes, group.remembered), raised)
    lacking = group.options.min_nodes - len(look.machines.keys() - apart)
    if lacking > 0:
        return msgspec.structs.replace(raised, buys=min(raised.buys, lacking))
    return msgspec.structs.replace(raised, buys=0, problem="", lock=group.lock)


def _at_most_once_an_interval(look: PoolLook, run: Run) -> Run:
    """Without more taints than the rate allows, after a restart or a change of the spec."""
    last = look.before.scaled_down_at if look.before else None
    is_early = (
        last is not None
        and look.now.left_of(
            look.fields.scan_interval.seconds * (1 - EARLY) - BETWEEN_LOOKS, since=last
        )
        > 0
    )
    return msgspec.structs.replace(run, taints=()) if is_early and run.delta < 0 else run
