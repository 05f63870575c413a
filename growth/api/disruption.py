"""What may be done to nodes that are in use, when, and to how many at a time."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from growth.api.bounds import Atomic, ListSet
from growth.api.model import Model
from growth.api.written import CountOrPercent, Duration, Portion, between


class Consolidation(StrEnum):
    """Whether nodes that are in use may be replaced by cheaper ones."""

    WHEN_CHEAPER = "WhenCheaper"
    NEVER = "Never"


class DisruptionReason(StrEnum):
    """Why a node that is in use is replaced."""

    CONSOLIDATION = "Consolidation"
    DRIFT = "Drift"
    UNHEALTHY = "Unhealthy"


class Weekday(StrEnum):
    """A day of the week."""

    MONDAY = "Monday"
    TUESDAY = "Tuesday"
    WEDNESDAY = "Wednesday"
    THURSDAY = "Thursday"
    FRIDAY = "Friday"
    SATURDAY = "Saturday"
    SUNDAY = "Sunday"


class BudgetWindow(Model):
    """A span of time that comes back on each of its days."""

    days: Annotated[tuple[Weekday, ...], Field(max_length=7), ListSet()] = ()
    """Days on which it begins; empty means every day."""
    start: Annotated[str, Field(max_length=5, pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    """When it begins, in UTC, such as "22:00"."""
    duration: Annotated[Duration, between("1m", "24h")]
    """How long it lasts; it may end on the next day."""


class NodeDisruptionBudget(Model):
    """How many nodes may be disrupted at one time."""

    nodes: CountOrPercent
    """A number, or a percentage of the pool's nodes (rounded up). 0 forbids it."""
    reasons: Annotated[tuple[DisruptionReason, ...], Field(max_length=3), ListSet()] = ()
    """What it limits; empty means everything."""
    window: BudgetWindow | None = None
    """When it limits; unset means always."""


class Disruption(Model):
    """What may be done to nodes that are in use."""

    consolidation: Consolidation = Consolidation.WHEN_CHEAPER
    """WhenCheaper replaces nodes when that saves more than it disturbs; Never leaves them."""
    budgets: Annotated[tuple[NodeDisruptionBudget, ...], Field(max_length=32), Atomic()] = (
        NodeDisruptionBudget(nodes=Portion(10, "%")),
    )
    """Of all that apply at a moment, the smallest counts."""
