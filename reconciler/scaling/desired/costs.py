"""What the nodes of a pool cost in a month, and what another server type would save."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.scaling.desired.types import PricedType

HOURS_A_MONTH: Final = 730
MONTHS: Final = 12


class GroupCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a number of nodes costs."""

    hourly: Decimal

    @property
    def monthly(self) -> Decimal:
        """In an average month."""
        return self.hourly * HOURS_A_MONTH


def group_cost(hourly: Decimal, *, nodes: int, desired: int = 0, least: int = 0) -> GroupCost:
    """The cost of the nodes; without any, of those desired, and else of the minimum."""
    return GroupCost(hourly=hourly * (nodes or desired or least))


class Advice(StrEnum):
    """Whether another type is worth it."""

    STRONGLY_RECOMMENDED = "strongly_recommended"
    RECOMMENDED = "recommended"
    CONSIDER = "consider"
    NO_ACTION = "no_action"
    NOT_RECOMMENDED = "not_recommended"


_ABOVE: Final = (
    (20, Advice.STRONGLY_RECOMMENDED),
    (10, Advice.RECOMMENDED),
    (5, Advice.CONSIDER),
)
"""Savings in percent that must be exceeded."""
NOTICEABLE: Final = Decimal(10)
"""What a month must cost more before a change is advised against."""


class Savings(msgspec.Struct, frozen=True, kw_only=True):
    """What a change saves; below zero if it costs more."""

    monthly: Decimal
    percent: Decimal

    @property
    def annual(self) -> Decimal:
        """In a year."""
        return self.monthly * MONTHS

    @property
    def advice(self) -> Advice:
        """Whether to do it."""
        if self.monthly > 0:
            found = (advice for above, advice in _ABOVE if self.percent > above)
            return next(found, Advice.NO_ACTION)
        return Advice.NOT_RECOMMENDED if self.monthly < -NOTICEABLE else Advice.NO_ACTION


def savings(current: Decimal, proposed: Decimal) -> Savings:
    """What it saves to pay the proposed price a month instead of the current one."""
    saved = current - proposed
    percent = saved * 100 / current if current > 0 else Decimal(0)
    return Savings(monthly=saved, percent=percent)


class TypeComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The types of a pool beside each other."""

    cheapest: str
    dearest: str
    average: Decimal


def compared_types(types: Iterable[PricedType]) -> TypeComparison | None:
    """The cheapest and the dearest type, and what a type costs on average; of alike, the first."""
    types = tuple(types)
    if not types:
        return None
    return TypeComparison(
        cheapest=min(types, key=lambda each: each.monthly).name,
        dearest=max(types, key=lambda each: each.monthly).name,
        average=sum((each.monthly for each in types), Decimal(0)) / len(types),
    )
