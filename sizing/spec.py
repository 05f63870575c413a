"""What an Hvpa's spec asks for, in exact numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from growth.api.hvpa import ContainerScalingMode
from growth.scheduling.resources import CPU, MEMORY, parse_one
from sizing.rule.amounts import Margin, Sized
from sizing.rule.blocking import ScaleRules
from sizing.rule.intervals import (
    EntryDefaults,
    IntervalsInvalid,
    effective_intervals,
    refuse_gaps,
)
from sizing.rule.sizing import SizingRules
from sizing.rule.windows import MaintenanceWindow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.hvpa import ContainerPolicy, HvpaSpec, ResourceChanges, ScaleType, SizeOfPod
    from sizing.rule.amounts import Margins
    from sizing.rule.intervals import IntervalEntry

ALL_CONTAINERS = "*"


def sizing_rules(spec: HvpaSpec, containers: Iterable[str]) -> SizingRules:
    """The rules for a workload with these containers; an IntervalsInvalid if they have gaps."""
    entries = tuple(_entries(spec))
    refuse_gaps(entries)
    overlap = _margins(spec.scaling_intervals_overlap)
    window = spec.maintenance_time_window
    known = tuple(containers)
    return SizingRules(
        intervals=effective_intervals(entries, overlap=overlap, floor=_largest_minimum(spec)),
        scale_up=_scale_rules(spec.scale_up),
        scale_down=_scale_rules(spec.scale_down),
        window=None if window is None else MaintenanceWindow.parse(window.begin, window.end),
        base=_margins(spec.base_resources_per_replica),
        limits_gap=_margins(spec.limits_requests_gap_scale_params),
        min_allowed=dict(_bounds(spec, known, "min_allowed")),
        max_allowed=dict(_bounds(spec, known, "max_allowed")),
        not_sized=frozenset(_not_sized(spec, known)),
    )


def size_amounts(size: SizeOfPod) -> dict[str, Fraction]:
    """The amounts of a size, without those that aren't set."""
    written = {CPU: size.cpu, MEMORY: size.memory}
    return {name: _exact(name, text) for name, text in written.items() if text is not None}


def _exact(resource: str, text: str) -> Fraction:
    return Fraction(parse_one(resource, text))


def _entries(spec: HvpaSpec) -> Iterator[IntervalEntry]:
    defaults = EntryDefaults(
        max_replicas=spec.hpa.template.max_replicas,
        max_per_pod=_largest(spec, "max_allowed") or None,
    )
    for place, each in enumerate(spec.scaling_intervals):
        sizes = size_amounts(each.max_resources) if each.max_resources else None
        how = each.effective_interval_extrapolation
        try:
            yield defaults.completed(each.max_replicas, sizes, how)
        except ValueError as error:
            raise IntervalsInvalid(place, str(error)) from None


def _largest_minimum(spec: HvpaSpec) -> Mapping[str, Fraction]:
    return _largest(spec, "min_allowed")


def _largest(spec: HvpaSpec, bound: str) -> dict[str, Fraction]:
    """The largest bound of any container: intervals are for each of them."""
    found: dict[str, Fraction] = {}
    for policy in spec.vpa.template.resource_policy.container_policies:
        for name, amount in size_amounts(getattr(policy, bound)).items():
            found[name] = max(amount, found.get(name, amount))
    return found


def _bounds(
    spec: HvpaSpec, containers: Iterable[str], bound: str
) -> Iterator[tuple[Sized, Fraction]]:
    for container, policy in _policies(spec, containers):
        for name, amount in size_amounts(getattr(policy, bound)).items():
            yield Sized(container, name), amount


def _not_sized(spec: HvpaSpec, containers: Iterable[str]) -> Iterator[str]:
    for container, policy in _policies(spec, containers):
        if policy.mode is ContainerScalingMode.OFF:
            yield container


def _policies(spec: HvpaSpec, containers: Iterable[str]) -> Iterator[tuple[str, ContainerPolicy]]:
    """Its own policy, or that of all containers, for each container that has one."""
    policies = {
        each.container_name: each for each in spec.vpa.template.resource_policy.container_policies
    }
    for container in containers:
        policy = policies.get(container, policies.get(ALL_CONTAINERS))
        if policy is not None:
            yield container, policy


def _margins(changes: ResourceChanges) -> Margins:
    written = {CPU: changes.cpu, MEMORY: changes.memory}
    return {
        name: Margin(
            value=None if each.value is None else _exact(name, each.value),
            percentage=None if each.percentage is None else Fraction(each.percentage),
        )
        for name, each in written.items()
        if each is not None
    }


def _scale_rules(written: ScaleType) -> ScaleRules:
    return ScaleRules(
        mode=written.update_policy.update_mode,
        min_change=_margins(written.min_change),
        combine=written.combine,
        stabilisation=written.stabilization_duration.timedelta,
    )
