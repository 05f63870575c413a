"""The rules between the fields of an Hvpa.

Whether totals rise from interval to interval takes exact arithmetic with quantities, which CEL
hasn't: `sizing.rule.intervals` checks it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from growth.api.rule_patterns import never_changes
from growth.api.rules import AnyRule, Rule, RuleBreach, holds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.hvpa import HvpaSpec, ScalingInterval


def _not_rising(intervals: tuple[ScalingInterval, ...]) -> Iterable[RuleBreach]:
    known = [(place, each.max_replicas) for place, each in enumerate(intervals)]
    given = [(place, count) for place, count in known if count is not None]
    for (first, before), (place, count) in itertools.pairwise(given):
        if count <= before:
            yield RuleBreach(at=(place, "maxReplicas"), related=(first, "maxReplicas"))
            return


RISING_REPLICAS: Final = Rule(
    at="scalingIntervals",
    cel=(
        "[self.filter(each, has(each.maxReplicas)).map(each, each.maxReplicas)].all(counts, "
        "counts.isSorted() && "
        "counts.all(count, counts.indexOf(count) == counts.lastIndexOf(count)))"
    ),
    text="maxReplicas must rise from interval to interval: sort them, one for each maxReplicas",
    breaches=_not_rising,
)


def _has_its_window(spec: HvpaSpec) -> bool:
    modes = {spec.scale_up.update_policy.update_mode, spec.scale_down.update_policy.update_mode}
    return "MaintenanceWindow" not in modes or spec.maintenance_time_window is not None


WINDOW_FOR_THE_MODE: Final = Rule(
    cel=(
        "has(self.maintenanceTimeWindow) || ("
        "self.scaleUp.updatePolicy.updateMode != 'MaintenanceWindow' && "
        "self.scaleDown.updatePolicy.updateMode != 'MaintenanceWindow')"
    ),
    text="updateMode MaintenanceWindow needs a window: set maintenanceTimeWindow",
    breaches=holds(_has_its_window, at=("maintenanceTimeWindow",)),
)

SPEC: Final[tuple[AnyRule, ...]] = (
    never_changes("targetRef", text="targetRef is immutable: create another Hvpa"),
    RISING_REPLICAS,
    WINDOW_FOR_THE_MODE,
)
