"""The bounds of a pool: how many machines may come, be tainted, or go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Collection


class OutOfBounds(Misconfigured):
    """A number of machines that the pool may not have."""


def nodes_to_add(wanted: int, *, target: int, most: int) -> int:
    """As many of the wanted machines as the maximum leaves; none above it."""
    return max(0, min(wanted, most - target))


def increased_target(target: int, by: int, *, most: int) -> int:
    """The number of machines after buying."""
    if by <= 0:
        raise OutOfBounds("size increase must be positive")
    if target + by > most:
        raise OutOfBounds("increasing size will breach maximum node size")
    return target + by


def decreased_target(target: int, by: int, *, least: int) -> int:
    """The number of machines after some that haven't come are given up; `by` is negative."""
    if by >= 0:
        raise OutOfBounds("size decrease delta must be negative")
    if target + by < least:
        raise OutOfBounds("decreasing size will breach minimum node size")
    return target + by


def target_without(
    names: Collection[str], *, members: Collection[str], target: int, least: int
) -> int:
    """The number of machines after these are deleted."""
    if target <= least:
        raise OutOfBounds("min sized reached, nodes will not be deleted")
    if target - len(names) < least:
        raise OutOfBounds("deleting nodes will breach minimum node size")
    for name in names:
        if name not in members:
            raise OutOfBounds(f"NodeNotInNodeGroup({name})")
    return target - len(names)


def nodes_to_taint(wanted: int, *, untainted: int, min_nodes: int, target: int, least: int) -> int:
    """As many of the wanted nodes as both minimums leave."""
    if untainted < min_nodes:
        raise OutOfBounds(
            f"the number of nodes({untainted}) is less than specified minimum of {min_nodes}. "
            "Taking no action"
        )
    return max(0, min(wanted, untainted - min_nodes, target - least))
