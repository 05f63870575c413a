"""What pools say while so many of their nodes are sick that none is repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.facts.pool_notices import notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.instant import Instant
    from reconciler.core.actions import Sequence
    from reconciler.core.world import World
    from reconciler.replacement.health import SickNodes

CONDITION: Final = "ManySick"
RELEASED: Final = ("Released", "Sick nodes are repaired again.")


def notices(world: World, health: SickNodes, now: Instant) -> Iterator[Sequence]:
    """The condition of each pool for which it has begun or ended."""
    for name, pool in sorted(world.pools.items()):
        said = None if name not in health.held else _said(health, name)
        yield from notice(pool, world, now, condition=CONDITION, said=said, otherwise=RELEASED)


def _said(health: SickNodes, pool: str) -> tuple[str, str]:
    count = health.held[pool]
    return "TooManySick", (
        f"{count.sick} of {count.nodes} nodes aren't Ready at once, too many to be believed: is "
        "the network between them and the API server cut? None of them is replaced; those that "
        "are Ready again need nothing, and a node is replaced by hand if it is drained and deleted."
    )
