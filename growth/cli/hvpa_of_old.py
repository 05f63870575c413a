"""Converts an Hvpa of `autoscaling.k8s.io/v1alpha1` into growth's.

The old one says with which weight a VPA counts at which replicas; growth's says the size of a pod
at each number of replicas. Weight 100 is one interval, and weight 0 one in which only replicas
scale. What has no counterpart is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.wellknown import GROUP_VERSION
from growth.cli.converted import Json, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OLD_VERSIONS: Final = frozenset(
    {"autoscaling.k8s.io/v1alpha1", "autoscaling.gardener.cloud/v1alpha1"}
)
RESOURCES: Final = ("cpu", "memory")
MODES: Final = {
    "On": "Auto",
    "Auto": "Auto",
    "Off": "Off",
    "MaintenanceWindow": "MaintenanceWindow",
}
VPA_ONLY: Final = frozenset({1, 100})
"""Releases wrote the whole weight as 1, and later as 100."""


class ConvertedHvpa(NamedTuple):
    """Growth's object, and what a person should look at."""

    document: Json
    remarks: tuple[str, ...]


def is_old_hvpa(document: object) -> bool:
    """Whether it is one to convert."""
    if not isinstance(document, dict):
        return False
    return document.get("kind") == "Hvpa" and document.get("apiVersion") in OLD_VERSIONS


def convert_old_hvpa(old: Json) -> ConvertedHvpa:
    """The same workload, sources and rules for changes."""
    spec = part_of(old, "spec")
    hpa, vpa = part_of(spec, "hpa"), part_of(spec, "vpa")
    policies = [_policy(each) for each in _policies(vpa)]
    known = part_of(old, "metadata")
    found = {
        "targetRef": spec.get("targetRef", {}),
        "hpa": {"deploy": hpa.get("deploy", False), "template": _hpa_template(hpa)},
        "vpa": {
            "deploy": vpa.get("deploy", False),
            "template": {"resourcePolicy": {"containerPolicies": policies}},
        },
        "scalingIntervals": list(_intervals(spec, policies)),
        "scaleUp": _scale(part_of(vpa, "scaleUp")),
        "scaleDown": _scale(part_of(vpa, "scaleDown")),
        "limitsRequestsGapScaleParams": _changes(part_of(vpa, "limitsRequestsGapScaleParams")),
        "maintenanceTimeWindow": spec.get("maintenanceTimeWindow"),
    }
    document = {
        "apiVersion": GROUP_VERSION,
        "kind": "Hvpa",
        "metadata": {
            name: known[name] for name in ("name", "namespace", "labels") if name in known
        },
        "spec": {name: part for name, part in found.items() if part not in ({}, None)},
    }
    return ConvertedHvpa(document, tuple(_remarks(spec)))


def _policies(vpa: Json) -> list[Json]:
    policy = part_of(part_of(part_of(vpa, "template"), "spec"), "resourcePolicy")
    return [each for each in policy.get("containerPolicies") or () if isinstance(each, dict)]


def _policy(old: Json) -> Json:
    kept = {name: old[name] for name in ("containerName", "mode") if name in old}
    bounds = {name: _sized(part_of(old, name)) for name in ("minAllowed", "maxAllowed")}
    return kept | {name: sizes for name, sizes in bounds.items() if sizes}


def _sized(amounts: Json) -> Json:
    return {name: amounts[name] for name in RESOURCES if name in amounts}


def _hpa_template(hpa: Json) -> Json:
    replicas = part_of(part_of(hpa, "template"), "spec").get("maxReplicas")
    return {} if replicas is None else {"maxReplicas": replicas}


def _intervals(spec: Json, policies: Sequence[Json]) -> Iterator[Json]:
    """One for each weight. An interval without a size takes maxAllowed of the VPA."""
    smallest, largest = _bounds(policies)
    for each in _weights(spec):
        last = each.get("lastReplicaCount")
        interval: Json = {} if last is None else {"maxReplicas": last}
        is_vertical = each.get("vpaWeight", 0) in VPA_ONLY
        if not is_vertical:
            interval["effectiveIntervalExtrapolation"] = "horizontalOnly"
        sizes = largest if is_vertical else smallest
        yield interval | ({"maxResources": sizes} if sizes else {})
    if not _weights(spec):
        yield (
            {} if _hpa_template(part_of(spec, "hpa")) else {"maxReplicas": spec.get("replicas", 1)}
        )


def _bounds(policies: Sequence[Json]) -> tuple[Json, Json]:
    """The smallest and the largest pod, of the resources that have both: all intervals need them.

    They are those of the first container that has any.
    """
    for each in policies:
        smallest, largest = each.get("minAllowed", {}), each.get("maxAllowed", {})
        both = [name for name in RESOURCES if name in smallest and name in largest]
        if both:
            return {name: smallest[name] for name in both}, {name: largest[name] for name in both}
    return {}, {}


def _weights(spec: Json) -> list[Json]:
    found = [each for each in spec.get("weightBasedScalingIntervals") or () if each]
    return sorted(found, key=lambda each: each.get("startReplicaCount", 0))


def _scale(old: Json) -> Json:
    """The old controller took the smaller of value and percentage."""
    mode = MODES.get(str(part_of(old, "updatePolicy").get("updateMode", "Auto")), "Off")
    found: Json = {"updatePolicy": {"updateMode": mode}, "combine": "min"}
    changes = _changes(part_of(old, "minChange"))
    if changes:
        found["minChange"] = changes
    if "stabilizationDuration" in old:
        found["stabilizationDuration"] = old["stabilizationDuration"]
    return found


def _changes(old: Json) -> Json:
    return {
        name: {key: old[name][key] for key in ("value", "percentage") if key in old[name]}
        for name in RESOURCES
        if isinstance(old.get(name), dict)
    }


def _remarks(spec: Json) -> Iterator[str]:
    weights = [each.get("vpaWeight", 0) for each in _weights(spec)]
    if any(weight not in {*VPA_ONLY, 0} for weight in weights):
        yield "weights between 0 and 100 have no counterpart: such intervals scale only replicas"
    if any(weight not in VPA_ONLY for weight in weights):
        yield (
            "maxResources where only replicas scale is a guess (minAllowed): set it to the "
            "requests that the pods have"
        )
    if part_of(spec, "hpa").get("scaleUp") or part_of(spec, "hpa").get("scaleDown"):
        yield "scaleUp and scaleDown are those of the VPA; those of the HPA were left out"
    if part_of(part_of(spec, "vpa"), "limitsRequestsGapScaleParams"):
        yield (
            "limitsRequestsGapScaleParams counts for all replicas together, and no longer for each "
            "pod: multiply absolute values by the replicas"
        )
