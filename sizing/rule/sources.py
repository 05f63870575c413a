"""What the objects of HPAs and VPAs say, as they lie in the API server.

Their conditions count before their numbers: an HPA whose metrics fail keeps its last number of
replicas, and a VPA its last recommendation.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.scheduling.resources import CPU, MEMORY, parse_one
from sizing.rule.amounts import Sized
from sizing.rule.sizing import hpa_totals
from sizing.rule.workload import HpaReading, VpaReading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sizing.rule.amounts import Sizes

RESOURCES: Final = (CPU, MEMORY)
UNREADABLE: Final = "it can't be read"


class _Condition(msgspec.Struct, frozen=True):
    type: str
    status: str
    reason: str = ""
    message: str = ""


class _Recommended(msgspec.Struct, frozen=True, rename="camel"):
    container_name: str
    target: dict[str, str | int | float] = {}


class _Recommendations(msgspec.Struct, frozen=True, rename="camel"):
    container_recommendations: tuple[_Recommended, ...] = ()


class _VpaStatus(msgspec.Struct, frozen=True):
    recommendation: _Recommendations = _Recommendations()
    conditions: tuple[_Condition, ...] = ()


class _Figure(msgspec.Struct, frozen=True, rename="camel"):
    """A metric's target, or its present value."""

    average_utilization: int | None = None
    average_value: str | int | None = None


class _Metric(msgspec.Struct, frozen=True, rename="camel"):
    """The part that Resource and ContainerResource have, in a spec or a status."""

    name: str = ""
    container: str = ""
    target: _Figure = _Figure()
    current: _Figure = _Figure()

    @property
    def key(self) -> tuple[str, str]:
        """What it measures."""
        return self.container, self.name


class _SomeMetric(msgspec.Struct, frozen=True, rename="camel"):
    resource: _Metric | None = None
    container_resource: _Metric | None = None

    @property
    def measured(self) -> _Metric | None:
        """The metric, if it is one of a resource."""
        return self.resource or self.container_resource


class _Direction(msgspec.Struct, frozen=True, rename="camel"):
    select_policy: str = ""


class _Behavior(msgspec.Struct, frozen=True, rename="camel"):
    scale_up: _Direction = _Direction()
    scale_down: _Direction = _Direction()


class _HpaSpec(msgspec.Struct, frozen=True):
    metrics: tuple[_SomeMetric, ...] = ()
    behavior: _Behavior = _Behavior()

    @property
    def only_measures(self) -> bool:
        """Whether it may scale in no direction: it is deployed for its measurements."""
        ways = (self.behavior.scale_up, self.behavior.scale_down)
        return all(way.select_policy == "Disabled" for way in ways)


class _HpaStatus(msgspec.Struct, frozen=True, rename="camel"):
    desired_replicas: int = 0
    current_metrics: tuple[_SomeMetric, ...] | None = ()
    conditions: tuple[_Condition, ...] = ()


class _Hpa(msgspec.Struct, frozen=True):
    spec: _HpaSpec = _HpaSpec()
    status: _HpaStatus = _HpaStatus()


def vpa_reading(vpa: Mapping[str, Any], checkpoints: Iterable[Mapping[str, Any]]) -> VpaReading:
    """What a VerticalPodAutoscaler recommends for each container."""
    try:
        status = msgspec.convert(vpa.get("status") or {}, _VpaStatus)
        targets = dict(_targets(status))
    except (msgspec.ValidationError, ValueError):
        return VpaReading(conditions={"RecommendationProvided": "False"})
    known = {each.type: each.status for each in status.conditions}
    conditions = {"RecommendationProvided": "False"} | known
    return VpaReading(targets=targets, conditions=conditions, samples=_samples(vpa, checkpoints))


def hpa_reading(hpa: Mapping[str, Any], requests: Sizes, replicas: int) -> HpaReading:
    """What a HorizontalPodAutoscaler recommends, with the present requests of a pod."""
    try:
        found = msgspec.convert(hpa, _Hpa)
    except msgspec.ValidationError:
        return HpaReading(doubt=UNREADABLE)
    doubt = next(_failures(found.status.conditions), None)
    if doubt is not None:
        return HpaReading(doubt=doubt)
    if found.spec.only_measures:
        totals = dict(_measured(found, requests, replicas))
        return HpaReading(totals=totals, doubt=None if totals else "it has measured nothing yet")
    if found.status.desired_replicas < 1:
        return HpaReading(doubt="it has decided nothing yet")
    return HpaReading(totals=hpa_totals(found.status.desired_replicas, requests))


def only_measures(hpa: Mapping[str, Any]) -> bool:
    """Whether an HPA may scale in no direction, so that it never writes."""
    try:
        return msgspec.convert(hpa, _Hpa).spec.only_measures
    except msgspec.ValidationError:
        return False


def _targets(status: _VpaStatus) -> Iterator[tuple[Sized, Fraction]]:
    for each in status.recommendation.container_recommendations:
        for name in RESOURCES:
            if name in each.target:
                amount = parse_one(name, each.target[name])
                yield Sized(each.container_name, name), Fraction(amount)


def _samples(vpa: Mapping[str, Any], checkpoints: Iterable[Mapping[str, Any]]) -> int | None:
    """The fewest samples of any container; None if no checkpoint tells."""
    name = (vpa.get("metadata") or {}).get("name")
    counts = [
        (each.get("status") or {}).get("totalSamplesCount", 0)
        for each in checkpoints
        if (each.get("spec") or {}).get("vpaObjectName") == name
    ]
    return min((count for count in counts if isinstance(count, int)), default=None)


def _failures(conditions: Iterable[_Condition]) -> Iterator[str]:
    for each in conditions:
        if each.type in {"AbleToScale", "ScalingActive"} and each.status == "False":
            yield f"{each.type} is False: {each.reason}"


def _measured(hpa: _Hpa, requests: Sizes, replicas: int) -> Iterator[tuple[Sized, Fraction]]:
    """Totals at which each pod would have its target, not rounded to whole replicas."""
    now = {m.key: m.current for each in hpa.status.current_metrics or () if (m := each.measured)}
    for metric in (each.measured for each in hpa.spec.metrics):
        ratio = _ratio(now.get(metric.key), metric.target) if metric else None
        if metric is None or ratio is None:
            continue
        for part, request in requests.items():
            if part.resource == metric.name and metric.container in {"", part.container}:
                yield part, request * replicas * ratio


def _ratio(current: _Figure | None, target: _Figure) -> Fraction | None:
    """How far the use is above the target."""
    if current is None:
        return None
    if current.average_utilization is not None and target.average_utilization:
        return Fraction(current.average_utilization, target.average_utilization)
    if current.average_value is not None and target.average_value is not None:
        measured, wanted = (
            parse_one(CPU, each) for each in (current.average_value, target.average_value)
        )
        return Fraction(measured, wanted) if wanted else None
    return None
