"""Bounds and steps of compute nodes. A cluster over several zones has a multiple of three nodes."""

from __future__ import annotations

from typing import Final

ZONES: Final = 3
"""How many zones a multi-AZ cluster has; each has equally many nodes."""


def round_up(value: int, *, multiple: int) -> int:
    """The smallest multiple that is at least the value."""
    return -(-value // multiple) * multiple


def round_down(value: int, *, multiple: int) -> int:
    """The largest multiple that is at most the value."""
    return value // multiple * multiple


def restricted_ceiling(ceiling: int, *, multi_az: bool) -> int:
    """The most nodes that a cluster may have."""
    return round_down(ceiling, multiple=ZONES) if multi_az else ceiling


def restricted_floor(floor: int, *, multi_az: bool) -> int:
    """The fewest nodes that a cluster may have."""
    return round_up(floor, multiple=ZONES) if multi_az else floor


def size_of_step(node_delta: int, *, multi_az: bool) -> int:
    """How many nodes are added or removed at once."""
    return round_up(node_delta, multiple=ZONES) if multi_az else node_delta
