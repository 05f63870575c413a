"""What a pool says while one of its limits, or of all pools together, keeps pods from a machine.

A limit that is reached and that nobody minds is no news. One that pods wait for is: somebody has to
raise it, or to accept that they wait. The condition names the limit that binds, and goes when the
pods have a place, are gone, or wait for something else.
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
ROOM: Final = ("RoomLeft", "No limit keeps a machine from pods that wait.")


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, if a limit has begun or ceased to bind."""
    said = world.ledger.planning.binding.get(pool.name)
    if said is None and _is_open(world):
        return None
    return begun_or_ended(pool, now, name=CONDITION, said=said, otherwise=ROOM)


def _is_open(world: World) -> bool:
    """Whether a plan that is asked for, or about to be, may say the same once more."""
    planning = world.ledger.planning
    is_new = not planning.number and bool(world.pending)
    return is_new or planning.asked is not None or planning.window is not None
