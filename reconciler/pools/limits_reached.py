"""The condition of a pool while pods wait because of one of its limits, or a limit of all pools.

A limit that is reached while no pod waits needs no condition. If pods wait, a person has to raise
the limit or accept the wait. The condition names the limit, and ends when the pods have a place,
are gone, or wait for something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.pools.saying import begun_or_ended

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World

CONDITION: Final = "LimitReached"
ROOM: Final = ("RoomLeft", "No limit blocks a machine for waiting pods.")


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, if a limit has begun or stopped to block pods."""
    said = world.ledger.planning.binding.get(pool.name)
    if said is None and _is_open(world):
        return None
    return begun_or_ended(pool, now, name=CONDITION, said=said, otherwise=ROOM)


def _is_open(world: World) -> bool:
    """Whether a plan that is under way or due may report the same limit again."""
    planning = world.ledger.planning
    is_new = not planning.number and bool(world.pending)
    return is_new or planning.asked is not None or planning.window is not None
