"""When nodes in use may be replaced, and how many at a time."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from growth.api.bounds import Atomic, ListSet
from growth.api.model import Model
from growth.api.written import CountOrPercent, Duration, Portion, between


class Consolidation(StrEnum):
    """Whether nodes in use may be replaced with cheaper ones."""

    WHEN_CHEAPER = "WhenCheaper"
    NEVER = "Never"


class DisruptionReason(StrEnum):
    """Why a node in use is replaced."""

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
    """A period that repeats on each of its days."""

    days: Annotated[tuple[Weekday, ...], Field(max_length=7), ListSet()] = ()
    """Days on which it begins. Empty means every day."""
    start: Annotated[str, Field(max_length=5, pattern="^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    """When it begins, in UTC, such as "22:00"."""
    duration: Annotated[Duration, between("1m", "24h")]
    """How long it lasts. It may end on the next day."""


class NodeDisruptionBudget(Model):
    """How many nodes may be disrupted at a time."""

    nodes: CountOrPercent
    """A number, or a percentage of the pool's nodes (rounded up). 0 forbids disruption."""
    reasons: Annotated[tuple[DisruptionReason, ...], Field(max_length=3), ListSet()] = ()
    """The reasons that it limits. Empty means all."""
    window: BudgetWindow | None = None
    """When it applies. Unset means always."""


class Disruption(Model):
    """When nodes in use may be replaced, and how many at a time."""

    consolidation: Consolidation = Consolidation.WHEN_CHEAPER
    """WhenCheaper replaces nodes if that saves more than the disruption costs. Never doesn't."""
    budgets: Annotated[tuple[NodeDisruptionBudget, ...], Field(max_length=32), Atomic()] = (
        NodeDisruptionBudget(nodes=Portion(10, "%")),
    )
    """If several budgets apply, the smallest counts."""
    expire_after: Annotated[Duration, between("10m", "87600h")] | None = None
    """Nodes older than this are replaced like drifted ones, within the budgets for the reason
    Drift. So that nodes that were bought together aren't replaced together, each may become older
    by up to a tenth of this, or by up to an hour if that is more. Unset means no limit."""
    termination_grace_period: Annotated[Duration, between("1m", "168h")] | None = None
    """How long the drain of a node may take that has to go (Drift, Unhealthy, PoolDeleted). Pods
    that their budgets or annotations still hold are then deleted, so that each has as much of its
    own grace period as fits. Unset means that growth never deletes pods, and such a drain waits."""
