"""The fields of the policy Desired: VPSie's node group, in growth's spelling."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field, Strict

from growth.api.bounds import Atomic, Count, ListSet
from growth.api.disruption import Weekday
from growth.api.model import Model
from growth.api.rules import AnyRule, Rule, RuleBreach
from growth.api.written import Duration, ServerType, between

if TYPE_CHECKING:
    from collections.abc import Iterable

UsedPercent = Annotated[int, Strict(), Field(ge=0, le=100)]
"""Measured use as a percentage of capacity."""


def _minimum_above_maximum(fields: DesiredScaling) -> Iterable[RuleBreach]:
    if fields.min_nodes > fields.max_nodes:
        words = {"min": str(fields.min_nodes), "max": str(fields.max_nodes)}
        yield RuleBreach(at=("minNodes",), related=("maxNodes",), words=words)


_MINIMUM_WITHIN_MAXIMUM: Final = Rule(
    cel="self.minNodes <= self.maxNodes",
    text="minNodes {min} is above maxNodes {max}: lower minNodes or raise maxNodes",
    words={"min": "self.minNodes", "max": "self.maxNodes"},
    breaches=_minimum_above_maximum,
)


class ScaleDownMode(StrEnum):
    """How eagerly nodes are given back."""

    AGGRESSIVE = "Aggressive"
    BALANCED = "Balanced"
    CONSERVATIVE = "Conservative"
    DISABLED = "Disabled"


DayHour = Annotated[int, Strict(), Field(ge=0, le=24)]
"""An hour of the day, in UTC."""


class ScaleDownWindow(Model):
    """Hours of the day with a scaleDownPolicy of their own."""

    days: Annotated[tuple[Weekday, ...], Field(max_length=7), ListSet()] = ()
    """Days on which it applies. Empty means every day."""
    start: DayHour
    """Hour at which it begins, in UTC."""
    end: DayHour
    """Hour at which it ends, in UTC. If it is before start, the window goes over midnight."""
    policy: ScaleDownMode
    """The scaleDownPolicy during these hours."""

    @property
    def weekdays(self) -> frozenset[int]:
        """The days as numbers, Monday is 0."""
        week = list(Weekday)
        return frozenset(map(week.index, self.days or week))


LONGEST_WINDOW: Final = 1200.0
"""Seconds for which a node is watched where the policy itself says how long."""


class DesiredScaling(Model):
    """How a pool is scaled by a number of nodes that a person, or another program, sets."""

    rules: ClassVar[tuple[AnyRule, ...]] = (_MINIMUM_WITHIN_MAXIMUM,)

    min_nodes: Count = 0
    """Minimum number of nodes."""
    max_nodes: Annotated[Count, Field(ge=1)] = 10
    """Maximum number of nodes."""
    desired_nodes: Count = 0
    """Wanted number of nodes, which people and programs set, also with kubectl scale. growth stays
    within minNodes and maxNodes, adds nodes for pending pods, and gives back none below it."""
    scale_up_batch_size: Count = 0
    """Maximum number of nodes added in one step. 0 means no maximum."""
    preferred_instance_type: ServerType | None = None
    """The server type that is bought if it is available. Otherwise, and if unset, the first
    available one of serverTypes."""
    scale_up_cooldown: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """Time after a step up in which no other follows."""
    scale_down_cooldown: Annotated[Duration, between("0s", "24h")] = Duration.parse("0s")
    """Time after any step in which no node is given back. 0 means the default of 10 minutes."""
    cpu_utilization_threshold: UsedPercent = 50
    """A node is underutilized if its measured CPU use and its measured memory use are both below
    their thresholds."""
    memory_utilization_threshold: UsedPercent = 50
    """The same for memory."""
    underutilization_duration: Annotated[Duration, between("1m", "24h")] = Duration.parse("10m")
    """How long a node must be underutilized before it may be given back."""
    scale_down_policy: ScaleDownMode = ScaleDownMode.BALANCED
    """Balanced: the thresholds and the duration above, one node at a time. Aggressive: 60 % and 5m,
    two nodes at a time. Conservative: 40 % and 20m, and the next node waits until the last one is
    gone. Disabled: no node is given back."""
    scale_down_windows: Annotated[tuple[ScaleDownWindow, ...], Field(max_length=16), Atomic()] = ()
    """Hours in which another scaleDownPolicy applies. The first that applies counts."""

    @property
    def watched_for(self) -> float:
        """The longest time in seconds for which use is watched before a node may go."""
        return max(self.underutilization_duration.seconds, LONGEST_WINDOW)
