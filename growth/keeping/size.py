"""How many machines a pool's policy wants: what it answers, whatever it is called.

A policy is a pure rule, and this is all that follows from it. Planning buys up to the floors,
removal gives back the surplus, and `growth.keeping` says for which of both a node stays or goes. So
machines are bought, drained and explained in one way, under every policy.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import msgspec
from typing_extensions import override

from growth.api.nodepool_status import ScalingFloor, ScalingStatus
from growth.api.written import ServerTypeName

if TYPE_CHECKING:
    from datetime import datetime

    from growth.api.nodepool import NodePool

MOST_NAMED: Final = 256
"""Nodes of a surplus that a status names, as the definition of NodePool admits them."""


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """Machines that are there even without load."""

    types: frozenset[ServerTypeName]
    """The types; their machines count together."""
    count: int

    @override
    def __str__(self) -> str:
        return ", ".join(sorted(map(str, self.types)))


class PoolSize(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy wants of its pool at one moment."""

    floors: tuple[Floor, ...] = ()
    """What is bought if it is missing, and never given back."""
    most: int | None = None
    """Machines that are not exceeded, besides the pool's own limits; None if there are no more."""
    serves_demand: bool = False
    """Whether pending pods buy machines of the pool, and consolidation may replace its nodes."""
    surplus: frozenset[str] | None = frozenset()
    """The nodes that may go; None for each node that is idle."""
    drains: bool = False
    """Whether nodes of the surplus go though pods are on them: these are evicted."""
    why: str = ""
    """For people: why the size is what it is."""
    wake_at: float = inf
    """The monotonic second at which the policy wants to be asked again at the latest."""

    def keeps(self, node: str) -> bool:
        """Whether the policy holds a node that nothing else needs."""
        return self.surplus is not None and node not in self.surplus


STILL = PoolSize(why="its scaling policy hasn't answered yet")
"""Nothing is bought and nothing is given back."""


def size_by_demand(pool: NodePool) -> PoolSize:
    """Pending pods buy, idle nodes go, and of each type so many stay as its entry says."""
    floors = (
        Floor(types=frozenset({entry.name}), count=entry.min)
        for entry in pool.spec.server_types
        if entry.min
    )
    return PoolSize(floors=tuple(floors), serves_demand=True, surplus=None)


def size_in_status(pool: NodePool) -> PoolSize:
    """What is known of a pool's size from the object alone: for the command line."""
    status = pool.status.scaling
    if status is None:
        return size_by_demand(pool)
    return PoolSize(
        floors=tuple(
            Floor(types=frozenset(each.server_types), count=each.nodes) for each in status.floors
        ),
        most=status.most,
        surplus=frozenset(status.surplus),
        drains=status.drains,
        why=status.message,
    )


def scaling_status(
    size: PoolSize, *, policy: str, before: ScalingStatus | None, now: datetime
) -> ScalingStatus | None:
    """What the pool's status says of its size; None where the spec says it all."""
    if size.surplus is None:
        return None
    status = ScalingStatus(
        policy=policy,
        floors=tuple(
            ScalingFloor(server_types=tuple(sorted(each.types, key=str)), nodes=each.count)
            for each in size.floors
        ),
        most=size.most,
        surplus=tuple(sorted(size.surplus))[:MOST_NAMED],
        drains=size.drains,
        message=size.why,
        # With the time from before, so that only the content is compared.
        changed_at=None if before is None else before.changed_at,
    )
    return before if status == before else status.model_copy(update={"changed_at": now})
