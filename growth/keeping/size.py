"""How many machines a pool's policy wants: what it answers, whatever it is called.

A policy is a pure rule, and this is all that follows from it. Planning buys up to the floors,
removal gives back the surplus, and `growth.keeping` says for which of both a node stays or goes. So
machines are bought, drained and explained in one way, under every policy.
"""

from __future__ import annotations

from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Final

import msgspec
from typing_extensions import override

from growth.api.scaling_status import (
    ScalingFigure,
    ScalingFloor,
    ScalingHold,
    ScalingStatus,
    ScalingStep,
)
from growth.api.written import ServerTypeName
from growth.scheduling.taints import NO_SCHEDULE

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool

MOST_NAMED: Final = 256
"""Nodes of a surplus that a status names, as the definition of NodePool admits them."""
MOST_HOLDS: Final = 64
"""The same for what holds a policy up."""


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
    closed: frozenset[str] = frozenset()
    """Nodes that take no more pods: they bear the mark of a node that is about to go, also while
    pods are on them, until the policy wants them again. Only those of the surplus go."""
    overdue: frozenset[str] = frozenset()
    """Those of the surplus whose pods are evicted now, if not all are."""
    at_once: frozenset[str] = frozenset()
    """Closed nodes that go as soon as they are empty and of the surplus, without a wait."""
    apart: frozenset[str] = frozenset()
    """Machines that don't count for the floors: no pod can be placed on them."""
    grace: float | None = None
    """Seconds from the mark to the removal of an empty node; None: as the pool's scaleDown says."""
    mark_effect: str = NO_SCHEDULE
    """The effect of that mark."""
    marks_of_others: frozenset[str] = frozenset()
    """Taints of another autoscaler that mean the same, and are removed with growth's own."""
    why: str = ""
    """For people: why the size is what it is."""
    reason: str = ""
    """The same as one word for programs."""
    step: ScalingStep = ScalingStep.NONE
    """Whether nodes are added or given back."""
    change: int = 0
    """By how many nodes; negative if they are given back."""
    seen: tuple[tuple[str, int | str], ...] = ()
    """Name and value of each number that was decided on; whole, or the status changes too often."""
    figures: tuple[tuple[str, tuple[str, ...], float], ...] = ()
    """Numbers for metrics alone: the metric, its labels after that of the pool, and the value."""
    holds: tuple[ScalingHold, ...] = ()
    """What keeps the policy from changing the number of nodes."""
    scaled_up_at: datetime | None = None
    """When it last added nodes, which it remembers in the status."""
    scaled_down_at: datetime | None = None
    """When it last gave nodes back."""
    desired: int | None = None
    """The number of nodes that it keeps now, if it goes by a number."""
    requested: int | None = None
    """The number in the spec that it follows."""
    wake_at: float = inf
    """The monotonic second at which the policy wants to be asked again at the latest."""
    decided_at: float = -inf
    """The monotonic second at which it was decided, for policies that decide in intervals."""
    looked_at: float = -inf
    """That at which the policy looked last, if it looks more often than it decides."""
    generation: int = 0
    """That of the spec that it was decided on."""

    def grace_of(self, node: str, pool: NodePool) -> float:
        """Seconds from the mark of a node to its removal."""
        if node in self.at_once:
            return 0.0
        return pool.spec.scale_down.idle_after.seconds if self.grace is None else self.grace

    def drained(self) -> frozenset[str]:
        """The nodes whose pods are evicted."""
        return (self.surplus or frozenset()) if self.drains else self.overdue

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
        reason=status.reason,
        step=status.step,
        change=status.change,
        seen=tuple((each.name, each.value) for each in status.seen),
        holds=status.holds,
        scaled_up_at=status.scaled_up_at,
        scaled_down_at=status.scaled_down_at,
        desired=status.desired_nodes,
        requested=status.requested_nodes,
    )


def scaling_status(
    size: PoolSize, *, policy: str, before: ScalingStatus | None, now: datetime
) -> ScalingStatus | None:
    """What the pool's status says of its size; None where the spec says it all."""
    if size.surplus is None:
        return None
    status = _said(size, policy)
    if before is not None and _decision(before) == _decision(status):
        status = status.model_copy(update={"changed_at": before.changed_at})
        return before if status == before else status
    return status.model_copy(update={"changed_at": now})


def _said(size: PoolSize, policy: str) -> ScalingStatus:
    return ScalingStatus(
        policy=policy,
        seen=tuple(ScalingFigure(name=name, value=str(value)) for name, value in size.seen),
        step=size.step,
        change=size.change,
        reason=size.reason,
        message=size.why,
        holds=size.holds[:MOST_HOLDS],
        floors=tuple(
            ScalingFloor(server_types=tuple(sorted(each.types, key=str)), nodes=each.count)
            for each in size.floors
        ),
        most=size.most,
        surplus=tuple(sorted(size.surplus or ()))[:MOST_NAMED],
        drains=size.drains,
        scaled_up_at=size.scaled_up_at,
        scaled_down_at=size.scaled_down_at,
        desired_nodes=size.desired,
        requested_nodes=size.requested,
    )


def _decision(status: ScalingStatus) -> tuple[object, ...]:
    """What makes two decisions different: not the numbers, which change with each pod."""
    return (
        *(status.policy, status.floors, status.most, status.surplus, status.drains),
        *(status.step, status.reason),
    )
