"""Which nodes are renewed: those that have drifted, and those that are too old.

Both take the same way: they are replaced one swap at a time, within the budgets of their pool for
the reason `Drift`, and their pods find a place before they move.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from growth.keeping.expiry import expires_at
from reconciler.core.decision import NEVER
from reconciler.replacement.drift import drifted
from reconciler.replacement.nodes_by_blueprint import nodes_by_blueprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.world import World


class Expiry(NamedTuple):
    """When a node becomes too old."""

    at: datetime
    name: str


def outdated(world: World, now: Instant) -> Mapping[str, str]:
    """The nodes to renew, by name, each with a short text of why."""
    # What a node was made from says more than its age.
    return dict(sorted((_expired(world, now) | dict(drifted(world))).items()))


def next_expiry(world: World, now: Instant) -> float:
    """The monotonic second at which the next node becomes too old; NEVER if none does."""
    coming = (
        expiries[place].at
        for _, expiries in _by_pool(world)
        if (place := _reached(expiries, now)) < len(expiries)
    )
    first = min(coming, default=None)
    return NEVER if first is None else now.monotonic - now.seconds_since(first)


def expired_of_pools(world: World, now: Instant) -> Mapping[str, int]:
    """How many nodes of each pool with `expireAfter` are too old."""
    return {pool.name: _reached(expiries, now) for pool, expiries in _by_pool(world)}


def _expired(world: World, now: Instant) -> dict[str, str]:
    return {
        each.name: f"it is older than expireAfter of its pool, {pool.spec.disruption.expire_after}"
        for pool, expiries in _by_pool(world)
        for each in expiries[: _reached(expiries, now)]
    }


def _reached(expiries: Sequence[Expiry], now: Instant) -> int:
    return bisect_right(expiries, now.wall, key=attrgetter("at"))


def _by_pool(world: World) -> Iterator[tuple[NodePool, Sequence[Expiry]]]:
    for pool in (world.pools[name] for name in sorted(world.pools)):
        age = pool.spec.disruption.expire_after
        if age is not None:
            count = partial(_expiries, pool, world)
            yield pool, world.cluster.remembered(("expiries", pool.name, age), count)


def _expiries(pool: NodePool, world: World) -> Sequence[Expiry]:
    nodes = (
        node
        for make, many in nodes_by_blueprint(world).items()
        if make.pool == pool.name
        for node in many
    )
    found = ((expires_at(node, pool), node.name) for node in nodes)
    return sorted(Expiry(at, name) for at, name in found if at is not None)
