"""Which limits of pools prevent a saving: the same search again without them.

While pods move, the old machine and the new one both exist, and both count. If that exceeds a limit
nothing is replaced, and people should know what this costs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.bounds import MOST
from reconciler.paper.consolidated import Hindrance, consolidated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.paper.consolidated import Answer, RenewalOnPaper

LIMITS: Final = {
    "limits.nodes": "nodes",
    "limits.cpu": "cpu",
    "limits.memory": "memory",
    "limits.hourlyCost": "hourly_cost",
    "limits.nodesPerHour": "nodes_per_hour",
}
"""The field of each limit, in YAML and in the model."""
MAXIMA: Final = "the max of its types"


def hindrance(world: World, answer: Answer, *, now: Instant) -> Hindrance | None:
    """The fewest limits without which something is cheaper; None where none of them matters."""
    lifted = tuple(name for name in (*LIMITS, MAXIMA) if _is_set(name, world))
    found = _hindered_by(lifted, world, answer, now)
    for name in lifted if found is not None else ():
        others = tuple(each for each in lifted if each != name)
        # With all limits nothing is cheaper; otherwise this wouldn't be asked.
        without_it = _hindered_by(others, world, answer, now) if others else None
        if without_it is not None:
            lifted, found = others, without_it
    return found


def _hindered_by(
    limits: tuple[str, ...], world: World, answer: Answer, now: Instant
) -> Hindrance | None:
    paper = consolidated(_without(limits, world), answer, now=now)
    if not paper.goes:
        return None
    return Hindrance(limits=limits, pools=_pools_of(paper), saving=paper.saving)


def _is_set(limit: str, world: World) -> bool:
    if limit == MAXIMA:
        return True
    return any(
        getattr(pool.spec.limits, LIMITS[limit]) is not None for pool in world.pools.values()
    )


def _without(limits: Iterable[str], world: World) -> World:
    pools = {name: _lifted(pool, frozenset(limits)) for name, pool in world.pools.items()}
    return msgspec.structs.replace(world, pools=pools)


def _lifted(pool: NodePool, limits: frozenset[str]) -> NodePool:
    spec = pool.spec
    lifted = {LIMITS[name]: None for name in limits - {MAXIMA}}
    types = spec.server_types
    if MAXIMA in limits:
        types = tuple(each.model_copy(update={"max": MOST}) for each in types)
    kept = spec.limits.model_copy(update=lifted)
    return pool.model_copy(
        update={"spec": spec.model_copy(update={"limits": kept, "server_types": types})}
    )


def _pools_of(paper: RenewalOnPaper) -> tuple[str, ...]:
    """The pools in which machines would be bought; limits prevent nothing else."""
    return tuple(sorted({each.spec.pool for each in paper.comes}))
