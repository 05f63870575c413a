"""What a pool says while one of its limits, or of all pools together, keeps pods from a machine.

A limit that is reached and that nobody minds is no news. One that pods wait for is: somebody has to
raise it, or to accept that they wait. The condition names the limit that binds, and goes when the
pods have a place, are gone, or wait for something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.facts.pool_notices import notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.instant import Instant
    from reconciler.core.actions import Sequence
    from reconciler.core.world import World

CONDITION: Final = "LimitReached"
ROOM: Final = ("RoomLeft", "No limit keeps a machine from pods that wait.")


def notices(world: World, now: Instant) -> Iterator[Sequence]:
    """The condition of each pool of which a limit has begun or ceased to bind."""
    binding = world.ledger.planning.binding
    for name, pool in sorted(world.pools.items()):
        said = binding.get(name)
        if said is not None or not _is_open(world):
            yield from notice(pool, world, now, condition=CONDITION, said=said, otherwise=ROOM)


def _is_open(world: World) -> bool:
    """Whether a plan that is asked for, or about to be, may say the same once more."""
    planning = world.ledger.planning
    is_new = not planning.number and bool(world.pending)
    return is_new or planning.asked is not None or planning.window is not None
