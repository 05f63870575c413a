"""The condition of a pool that is paused, and once the pause has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Truth, condition_of_type
from reconciler.pools.saying import stated_now

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.brakes.pauses import Pause
    from reconciler.core.world import World

CONDITION: Final = "Paused"
RESUMED: Final = (Truth.FALSE, "Resumed", "The pool buys machines and gives them back again.")


def pause_end(pool: NodePool, world: World) -> datetime | None:
    """When its pause ends, for the pool's status."""
    pause = _pause(pool, world)
    return None if pause is None else pause.until


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write; unlike others, it is also written if only its message changes."""
    pause = _pause(pool, world)
    known = condition_of_type(pool.status.conditions, CONDITION)
    if known is None and pause is None:
        return None
    wanted = RESUMED if pause is None else (Truth.TRUE, pause.cause.value, pause.message)
    if known is not None and (known.status, known.reason, known.message) == wanted:
        return None
    truth, reason, message = wanted
    return stated_now(pool, now, name=CONDITION, truth=truth, reason=reason, message=message)


def _pause(pool: NodePool, world: World) -> Pause | None:
    """The pause of a pool; a pool that only observes says so itself (observing.py)."""
    pause = world.ledger.brakes.pauses.get(pool.name)
    return None if pause is None or pause.is_of_mode else pause
