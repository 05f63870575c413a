"""How much of a pool's capacity its pods request, exactly, and what follows from the thresholds."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from math import ceil, inf
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.errors import Misconfigured
from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from growth.scheduling.resources import Resources

Share = Fraction | float
"""A percentage; infinite if there is demand and no capacity. No other float is ever used."""
HUNDRED: Final = Fraction(100)


class NoCapacity(Misconfigured):
    """The nodes report no capacity, so nothing can be said of their utilisation."""

    def __init__(self) -> None:
        super().__init__("cannot divide by zero in percent calculation")


class BelowNothing(Misconfigured):
    """More nodes than needed were about to be called missing."""

    def __init__(self) -> None:
        super().__init__("negative scale up delta")


class Percent(NamedTuple):
    """The utilisation of both resources."""

    cpu: Share
    memory: Share

    @property
    def larger(self) -> Share:
        """The one that decides."""
        return max(self.cpu, self.memory)


class ScaleAction(StrEnum):
    """What the thresholds ask for."""

    SCALE_UP = "scale_up"
    SLOW_SCALE_DOWN = "slow_scale_down"
    FAST_SCALE_DOWN = "fast_scale_down"
    NONE = "none"


class Thresholds(NamedTuple):
    """The three thresholds, in percent. All comparisons are strict."""

    lower: int
    upper: int
    scale_up: int

    def action(self, utilisation: Share) -> ScaleAction:
        """What this utilisation asks for."""
        if utilisation < self.lower:
            return ScaleAction.FAST_SCALE_DOWN
        if utilisation < self.upper:
            return ScaleAction.SLOW_SCALE_DOWN
        if utilisation > self.scale_up:
            return ScaleAction.SCALE_UP
        return ScaleAction.NONE


def utilisation(requests: Resources, capacity: Resources, *, nodes: int) -> Percent:
    """What is requested of the capacity of so many untainted nodes, in percent."""
    if nodes and not (capacity[CPU] and capacity[MEMORY]):
        raise NoCapacity
    if not nodes:
        share = inf if requests[CPU] or requests[MEMORY] else Fraction(0)
        return Percent(share, share)
    return Percent(
        HUNDRED * requests[CPU] / capacity[CPU], HUNDRED * requests[MEMORY] / capacity[MEMORY]
    )


def nodes_missing(nodes: int, percent: Percent, *, threshold: int) -> int:
    """How many more nodes of their average size bring both resources to the threshold."""
    missing = max(ceil(nodes * (share - threshold) / threshold) for share in percent)
    if missing < 0:
        raise BelowNothing
    return missing


def nodes_from_zero(requests: Resources, known: Resources | None, *, threshold: int) -> int:
    """The same without a node: by the size that nodes had before; one node if it isn't known."""
    if known is None:
        return 1
    shares = (
        Fraction(requests[name], known[name]) * HUNDRED / threshold
        for name in (CPU, MEMORY)
        if known[name]
    )
    return max((ceil(share) for share in shares), default=1)
