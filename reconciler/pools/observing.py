"""The condition of a pool that only observes, and once it acts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.nodepool import OBSERVING, PoolMode
from reconciler.pools.saying import begun_or_ended

if TYPE_CHECKING:
    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.condition_words import Words

POOL: Final = (
    "PoolMode",
    (
        "The pool buys nothing and gives nothing back, because its spec.mode is Observe; growth "
        "observe report shows what it would do."
    ),
)
INSTALLATION: Final = (
    "InstallationMode",
    (
        "growth buys nothing and gives nothing back in any pool, because it is installed with "
        "--observe; growth observe report shows what it would do."
    ),
)
ACTS: Final = ("Acts", "The pool buys machines and gives them back.")


def news(pool: NodePool, world: World, now: Instant) -> Condition | None:
    """The condition to write; None while the status is right."""
    return begun_or_ended(pool, now, name=OBSERVING, said=_said(pool, world), otherwise=ACTS)


def _said(pool: NodePool, world: World) -> Words | None:
    if world.mode is PoolMode.OBSERVE:
        return INSTALLATION
    return POOL if world.only_observes(pool.name) else None
