"""What a pool says while types that it names can't be bought anywhere it may buy.

A type is retired one day, or misspelt, or sold only where the networks of the node class don't
reach. The pool goes on with the others; without a word nobody would know why it is never bought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.pool_notices import notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.instant import Instant
    from reconciler.actions import Sequence
    from reconciler.pool_notices import Words
    from reconciler.world import World

CONDITION: Final = "TypesMissing"
SOLD: Final = ("AllSold", "Each server type of the pool is sold in one of its places.")
NAMED: Final = 10


def notices(world: World, now: Instant) -> Iterator[Sequence]:
    """The condition of each pool whose catalogue is known."""
    for name, missing in sorted(world.ledger.planning.shelf.missing.items()):
        pool = world.pools.get(name)
        if pool is not None:
            said = _said(missing) if missing else None
            yield from notice(pool, world, now, condition=CONDITION, said=said, otherwise=SOLD)


def _said(missing: tuple[str, ...]) -> Words:
    more = len(missing) - NAMED
    names = ", ".join(missing[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return "NotSold", (
        f"{names}: sold in none of the pool's places, and so never bought. Look at the spelling, "
        "whether the cloud still sells it, and whether the node class's images and networks admit "
        "it; else take it out of spec.serverTypes."
    )
