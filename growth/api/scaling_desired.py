"""The fields of the policy Desired: VPSie's node group, in growth's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field, Strict

from growth.api.bounds import Count
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


class DesiredScaling(Model):
    """How a pool is scaled by a number of nodes that a person, or another program, sets."""

    rules: ClassVar[tuple[AnyRule, ...]] = (_MINIMUM_WITHIN_MAXIMUM,)

    min_nodes: Count = 0
    """Minimum number of nodes."""
    max_nodes: Annotated[Count, Field(ge=1)] = 10
    """Maximum number of nodes."""
    desired_nodes: Count | None = None
    """Wanted number of nodes, between minNodes and maxNodes. Unset means as many as there are,
    and more for pending pods."""
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
