"""Which server type the next node of a pool has.

The preferred type is taken if the pool offers it and it is available in one of the pool's places;
otherwise the first available type in the pool's order. If none is available, nothing is bought, and
an event says so.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from growth.scheduling.resources import Resources
from reconciler.scaling.desired.telling import ScalingEvent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


Type = TypeVar("Type")


class NoTypeAvailable(msgspec.Struct, frozen=True):
    """No server type of the pool can be bought."""

    why: str
    event: ScalingEvent = ScalingEvent.SCALE_UP_FAILED


class TypeChosen(msgspec.Struct, Generic[Type], frozen=True):
    """The server type to buy."""

    type: Type


def chosen_type(
    offered: Iterable[Type], *, preferred: Type | None, available: Collection[Type]
) -> TypeChosen[Type] | NoTypeAvailable:
    """The type to buy next."""
    offered = tuple(offered)
    if not offered:
        return NoTypeAvailable("the pool has no server types")
    candidates = [each for each in offered if each in available]
    if not candidates:
        return NoTypeAvailable("none of its server types is available in its locations")
    return TypeChosen(preferred if preferred in candidates else candidates[0])


class PricedType(msgspec.Struct, frozen=True, kw_only=True):
    """A server type with its size and prices."""

    name: str
    resources: Resources
    hourly: Decimal
    monthly: Decimal


def cheapest_type(
    types: Iterable[PricedType], need: Resources, *, allowed: Collection[str] | None
) -> PricedType | None:
    """The cheapest type that covers a need; of equal prices, the first by name."""
    fitting = [
        each
        for each in types
        if (not allowed or each.name in allowed) and each.resources.covers(need)
    ]
    return min(fitting, key=lambda each: (each.monthly, each.name), default=None)
