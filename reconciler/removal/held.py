"""What pools say while nothing of a cloud is given back because its listings can't be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.facts.node_classes import node_class_of
from reconciler.facts.pool_notices import notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.instant import Instant
    from reconciler.core.actions import Sequence
    from reconciler.core.world import World
    from reconciler.providers.port import ClassKey
    from reconciler.removal.orphans import Orphans

CONDITION: Final = "RemovalHeld"
RELEASED: Final = ("Released", "What the cloud lists is believed.")


def notices(world: World, found: Mapping[ClassKey, Orphans], now: Instant) -> Iterator[Sequence]:
    """The condition of each pool for which it has begun, changed or ended."""
    for _, pool in sorted(world.pools.items()):
        key = node_class_of(pool, world)
        said = _doubt(key, world, found)
        # While nothing may be concluded from a cloud, what was told of it stands.
        if said is not None or key in found:
            yield from notice(pool, world, now, condition=CONDITION, said=said, otherwise=RELEASED)


def _doubt(
    key: ClassKey, world: World, found: Mapping[ClassKey, Orphans]
) -> tuple[str, str] | None:
    """Reason and message; None while nothing is held."""
    trust = world.ledger.brakes.clouds.get(key)
    if trust is not None and trust.suspected_at is not None and trust.doubt:
        return "ListingDoubted", f"{trust.doubt}; nothing is given back until another one agrees."
    orphans = found.get(key)
    if orphans is not None and orphans.are_too_many:
        return "TooManyOrphans", (
            f"{orphans.sudden} machines have no NodeRequest and no Node, too many to be "
            "believed: was this cluster restored from a backup, or does another one bear its id? "
            "None of them is deleted."
        )
    return None
