"""The condition of a pool while removals are held because its cloud's listing can't be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.nodeclass import ANOTHER_WRITER
from reconciler.facts.node_classes import node_class_of
from reconciler.pools.saying import begun_or_ended
from reconciler.removal.another_writer import HELD, tells_of_another_writer, words_of_others

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.condition_words import Words
    from reconciler.providers.port import ClassKey

RELEASED: Final = ("Released", "The listings of the cloud are trusted again.")


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, if it has begun, changed or ended."""
    key = node_class_of(pool, world)
    said = _doubt(key, world)
    # Without a usable listing, the last condition stays. A doubt may take its place, but not if it
    # tells of another writer: no listing shows the others then, so it is the memory of them.
    is_seen = key in world.ledger.removal.crowds
    if not is_seen and (said is None or tells_of_another_writer(pool)):
        return None
    return begun_or_ended(pool, now, name=HELD, said=said, otherwise=RELEASED)


def _doubt(key: ClassKey, world: World) -> Words | None:
    """Reason and message; None while nothing is held."""
    trust = world.ledger.brakes.clouds.get(key)
    if trust is not None and trust.suspected_at is not None and trust.doubt:
        return "ListingDoubted", f"{trust.doubt}; nothing is given back until another agrees."
    others = world.ledger.removal.others.get(key, ())
    if others:
        return ANOTHER_WRITER, words_of_others(others)
    crowd = world.ledger.removal.crowds.get(key, 0)
    if crowd:
        return "TooManyOrphans", (
            f"{crowd} machines have no NodeRequest and no Node. So many suggest that this cluster "
            "was restored from a backup, or that another cluster has the same id, so none of them "
            "is deleted."
        )
    return None
