"""The fields of the policy Utilisation: Escalator's options of a node group, in growth's spelling.

`mode: Observe` of the pool, or of the installation, is Escalator's dry mode.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field, Strict

from growth.api.bounds import Count, Flag
from growth.api.model import Model
from growth.api.rules import AnyRule, Rule, RuleBreach, holds
from growth.api.taints import TaintEffect
from growth.api.written import Duration, between

if TYPE_CHECKING:
    from collections.abc import Iterable

Threshold = Annotated[int, Strict(), Field(ge=1, le=1000)]
"""Requests as a percentage of capacity; above 100, pods wait before machines are bought."""


class EscalatorMarks(StrEnum):
    """What growth does with the taints and annotations of Escalator."""

    IGNORE = "Ignore"
    READ = "Read"


def _minimum_not_below_maximum(fields: UtilisationScaling) -> Iterable[RuleBreach]:
    if fields.min_nodes >= fields.max_nodes and not fields.is_bounded_by_pool:
        words = {"min": str(fields.min_nodes), "max": str(fields.max_nodes)}
        yield RuleBreach(at=("minNodes",), related=("maxNodes",), words=words)


_MINIMUM_BELOW_MAXIMUM: Final = Rule(
    cel="self.minNodes < self.maxNodes || (self.minNodes == 0 && self.maxNodes == 0)",
    text="minNodes {min} must be below maxNodes {max}: change one of them, or leave out both to "
    "use min and max of serverTypes",
    words={"min": "self.minNodes", "max": "self.maxNodes"},
    breaches=_minimum_not_below_maximum,
)


def _out_of_order(fields: UtilisationScaling) -> Iterable[RuleBreach]:
    lower = fields.taint_lower_capacity_threshold_percent
    upper = fields.taint_upper_capacity_threshold_percent
    if not lower < upper < fields.scale_up_threshold_percent:
        at = "taintLowerCapacityThresholdPercent" if lower >= upper else "scaleUpThresholdPercent"
        words = {"lower": str(lower), "upper": str(upper)}
        words["up"] = str(fields.scale_up_threshold_percent)
        yield RuleBreach(at=(at,), words=words)


_THRESHOLDS_RISE: Final = Rule(
    cel="self.taintLowerCapacityThresholdPercent < self.taintUpperCapacityThresholdPercent && "
    "self.taintUpperCapacityThresholdPercent < self.scaleUpThresholdPercent",
    text="the thresholds must rise from taintLowerCapacityThresholdPercent ({lower}) over "
    "taintUpperCapacityThresholdPercent ({upper}) to scaleUpThresholdPercent ({up})",
    words={
        "lower": "self.taintLowerCapacityThresholdPercent",
        "upper": "self.taintUpperCapacityThresholdPercent",
        "up": "self.scaleUpThresholdPercent",
    },
    breaches=_out_of_order,
)

_SLOW_IS_NOT_FASTER: Final = Rule(
    cel="self.slowNodeRemovalRate <= self.fastNodeRemovalRate",
    text="slowNodeRemovalRate is above fastNodeRemovalRate: lower it",
    breaches=holds(
        lambda fields: fields.slow_node_removal_rate <= fields.fast_node_removal_rate,
        at=("slowNodeRemovalRate",),
    ),
)

_SOFT_BEFORE_HARD: Final = Rule(
    cel="duration(self.softDeleteGracePeriod) < duration(self.hardDeleteGracePeriod)",
    text="softDeleteGracePeriod must be shorter than hardDeleteGracePeriod",
    breaches=holds(
        lambda fields: fields.soft_delete_grace_period < fields.hard_delete_grace_period,
        at=("softDeleteGracePeriod",),
    ),
)

_PERIOD_BEFORE_TIMEOUT: Final = Rule(
    cel="duration(self.scaleUpCoolDownPeriod) < duration(self.scaleUpCoolDownTimeout)",
    text="scaleUpCoolDownPeriod must be shorter than scaleUpCoolDownTimeout",
    breaches=holds(
        lambda fields: fields.scale_up_cool_down_period < fields.scale_up_cool_down_timeout,
        at=("scaleUpCoolDownPeriod",),
    ),
)

_HEALTH_CHECK_HAS_A_SET: Final = Rule(
    cel="!has(self.unhealthyNodeGracePeriod) || has(self.healthCheckNewestNodesPercent)",
    text="unhealthyNodeGracePeriod turns the health check on, which needs "
    "healthCheckNewestNodesPercent: set it, or remove both",
    breaches=holds(
        lambda fields: (
            fields.unhealthy_node_grace_period is None
            or fields.health_check_newest_nodes_percent is not None
        ),
        at=("healthCheckNewestNodesPercent",),
    ),
)


class UtilisationScaling(Model):
    """How a pool is scaled by what its pods request of its nodes' capacity."""

    rules: ClassVar[tuple[AnyRule, ...]] = (
        _MINIMUM_BELOW_MAXIMUM,
        _THRESHOLDS_RISE,
        _SLOW_IS_NOT_FASTER,
        _SOFT_BEFORE_HARD,
        _PERIOD_BEFORE_TIMEOUT,
        _HEALTH_CHECK_HAS_A_SET,
    )

    min_nodes: Count = 0
    """Minimum number of nodes that take pods. If fewer do, growth adds the missing ones at once."""
    max_nodes: Count = 0
    """Maximum number of nodes. If this and minNodes are both 0, the pool's own limits apply."""
    scale_up_threshold_percent: Threshold = 70
    """Above this utilisation, growth adds nodes until it is reached again. Utilisation is what the
    pool's pods request, as a percentage of what its untainted nodes have for pods; the larger one
    of CPU and memory counts."""
    taint_upper_capacity_threshold_percent: Threshold = 40
    """Below this utilisation, nodes are tainted at the slow rate."""
    taint_lower_capacity_threshold_percent: Threshold = 10
    """Below this utilisation, nodes are tainted at the fast rate."""
    slow_node_removal_rate: Count = 2
    """Nodes tainted in each run at the slow rate."""
    fast_node_removal_rate: Count = 5
    """Nodes tainted in each run at the fast rate."""
    scan_interval: Annotated[Duration, between("1s", "1h")] = Duration.parse("60s")
    """Time between two runs."""
    scale_up_cool_down_period: Annotated[Duration, between("0s", "24h")] = Duration.parse("2m")
    """After growth has bought machines, it does nothing else for at least this long."""
    scale_up_cool_down_timeout: Annotated[Duration, between("1s", "24h")] = Duration.parse("10m")
    """growth waits no longer than this for machines that it has bought."""
    soft_delete_grace_period: Annotated[Duration, between("1s", "168h")] = Duration.parse("1m")
    """A node that has been tainted for longer is deleted if it is empty."""
    hard_delete_grace_period: Annotated[Duration, between("1s", "168h")] = Duration.parse("10m")
    """A node that has been tainted for longer is deleted even if pods are on it. They are evicted
    first, within their disruption budgets."""
    taint_effect: TaintEffect = TaintEffect.NO_SCHEDULE
    """Effect of the taint on nodes that are to be given back."""
    scale_on_starve: Flag = False
    """Whether to add a node if the largest pending pod fits on no node."""
    max_node_age: Annotated[Duration, between("1m", "87600h")] | None = None
    """If the pool has its minimum of nodes and one of them is older, growth adds one, so that the
    oldest can go. Unset means no limit."""
    unhealthy_node_grace_period: Annotated[Duration, between("1s", "8760h")] | None = None
    """Turns the health check on: nodes that are older and not Ready are tainted."""
    health_check_newest_nodes_percent: Annotated[int, Strict(), Field(ge=1, le=100)] | None = None
    """Percentage of the nodes, the newest ones, that the health check looks at."""
    max_unhealthy_nodes_percent: Annotated[int, Strict(), Field(ge=0, le=99)] = 0
    """If more of these nodes are unhealthy, the pool stops changing its number of nodes."""
    escalator_marks: EscalatorMarks = EscalatorMarks.IGNORE
    """Read: also use the taints atlassian.com/escalator and atlassian.com/escalator-force, and the
    annotation atlassian.com/no-delete."""

    @property
    def is_bounded_by_pool(self) -> bool:
        """Whether the pool's own minimums and limits take the place of these."""
        return self.min_nodes == self.max_nodes == 0
