"""Topology spread constraints that must hold, compiled. ScheduleAnyway is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import selectors
from growth.scheduling.selectors import LabelSelector, Selector

if TYPE_CHECKING:
    from collections.abc import Mapping

HONOR = "Honor"
IGNORE = "Ignore"


class TopologySpreadConstraint(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A constraint as written in the pod."""

    topology_key: str = ""
    max_skew: int = 1
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class SpreadConstraint(msgspec.Struct, frozen=True, gc=False):
    """A compiled constraint; hashable."""

    topology_key: str
    max_skew: int
    min_domains: int
    selector: Selector
    honors_affinity: bool
    honors_taints: bool


def compiled_constraints(
    constraints: tuple[TopologySpreadConstraint, ...], labels: Mapping[str, str]
) -> tuple[SpreadConstraint, ...]:
    """The constraints of a pod with these labels that can keep it off a node."""
    return tuple(
        SpreadConstraint(
            topology_key=each.topology_key,
            max_skew=each.max_skew,
            min_domains=each.min_domains or 1,
            selector=selectors.compiled_selector(each.label_selector).and_also(
                *selectors.from_keys(each.match_label_keys, labels, operator="In")
            ),
            # The two defaults differ: nodes that don't match the pod's affinity don't count, but
            # nodes with taints that it doesn't tolerate do.
            honors_affinity=(each.node_affinity_policy or HONOR) == HONOR,
            honors_taints=(each.node_taints_policy or IGNORE) == HONOR,
        )
        for each in constraints
        if each.when_unsatisfiable == "DoNotSchedule"
    )
