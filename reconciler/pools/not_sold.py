"""The condition of a pool that names server types which can't be bought in any of its locations.

A type may be retired or misspelt, or sold only where the networks of the node class don't reach.
The pool goes on with its other types; the condition explains why this one is never bought.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.wellknown import TYPES_MISSING
from reconciler.buying.missing_types import why_missing
from reconciler.facts.node_classes import node_class_of
from reconciler.pools.saying import begun_or_ended

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.condition_words import Words

SOLD: Final = ("AllSold", "Each server type of the pool is sold in one of its locations.")
NAMED: Final = 5
"""How many types are listed with their reason."""
LONGEST: Final = 800
"""Characters of all reasons, out of the 1024 that a condition's message may have."""


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write, of a pool whose catalogue is known."""
    missing = world.ledger.planning.shelf.missing.get(pool.name)
    if missing is None:
        return None
    said = _said(missing, pool, world) if missing else None
    return begun_or_ended(pool, now, name=TYPES_MISSING, said=said, otherwise=SOLD)


def _said(missing: tuple[ServerTypeName, ...], pool: NodePool, world: World) -> Words:
    key = node_class_of(pool, world)
    sold = world.offerings[key]
    reasons = [why_missing(each, sold, node_class=key.name) for each in missing[:NAMED]]
    if len(missing) > NAMED:
        reasons.append(f"{len(missing) - NAMED} more types are not sold either")
    told = "; ".join(reasons)
    told = told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"
    return "NotSold", (
        f"{told}. growth never buys these types: check whether the cloud still sells them and "
        "whether the node class's images and networks allow them, or remove them from "
        "spec.serverTypes."
    )
