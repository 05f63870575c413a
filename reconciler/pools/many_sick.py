"""The condition of a pool while so many of its nodes are sick that none is repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.pools.saying import begun_or_ended

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.condition_words import Words

CONDITION: Final = "ManySick"
RELEASED: Final = ("Released", "Sick nodes are repaired again.")


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, if it has begun or ended."""
    said = _said(pool.name, world)
    return begun_or_ended(pool, now, name=CONDITION, said=said, otherwise=RELEASED)


def _said(pool: str, world: World) -> Words | None:
    count = world.ledger.replacement.health.held.get(pool)
    if count is None:
        return None
    return "TooManySick", (
        f"{count.sick} of {count.nodes} nodes are not Ready at the same time. So many suggest a "
        "problem between them and the API server, so none of them is replaced. Check the network. "
        "To replace a node by hand, drain and delete it."
    )
