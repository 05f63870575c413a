"""Quantities, what pods ask for, and what machines have left.

The original counts whole cores and mebibytes; ours are exact, and are rounded up here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.scheduling.quantity import milli, units
from growth.scheduling.resources import Resources, parse_resources
from tests.scheduling import build
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json

GPU = "nvidia.com/gpu"
GPU_MODEL = "nvidia.com/gpu.product"
FIELDS = ("cpu", "mem_mib", "ephemeral_gib", "gpu", "gpu_model")
UNITS = {"cpu": ("cpu", ""), "mem_mib": ("memory", "Mi"), "gpu": (GPU, "")}
UNITS["ephemeral_gib"] = ("ephemeral-storage", "Gi")
SIZES = {"cpu": 1000, "mem_mib": 1 << 20, "ephemeral_gib": 1 << 30, "gpu": 1}


@adapts("parse_cpu")
def cpu(given: Json) -> Json:
    try:
        return {"whole_cores": _up(milli(given["quantity"]), "cpu")}
    except ValueError:
        return {"error": True}


@adapts("parse_memory")
def memory(given: Json) -> Json:
    try:
        return {"mib": _up(units(given["quantity"]), "mem_mib")}
    except ValueError:
        return {"error": True}


@adapts("pod_resources")
def pod_resources(given: Json) -> Json:
    containers = [
        build.container(f"c{number}", requests=_requests(*container))
        for number, container in enumerate(given["containers"] or ())
    ]
    selector = given.get("node_selector") or {}
    try:
        pod = build.pod(containers=containers, nodeSelector=selector)
        wanted = pod.requests
    except (ValueError, msgspec.ValidationError):
        return {"error": True}
    labels = dict(pod.wanted_nodes.labels)
    return _shown(wanted) | {"gpu_model": labels.get(GPU_MODEL)}


@adapts("satisfies")
def satisfies(given: Json) -> Json:
    offer, need = (_by_field(given, side) for side in ("offer", "need"))
    model = need.get("gpu_model")
    pod = build.pod(nodeSelector={GPU_MODEL: model} if model else {})
    node = build.node(labels={GPU_MODEL: offer["gpu_model"]} if offer.get("gpu_model") else {})
    is_wanted = pod.wanted_nodes.matches(node.name, node.labels)
    return {"satisfies": _resources(offer).covers(_resources(need)) and is_wanted}


@adapts("subtract")
def subtract(given: Json) -> Json:
    """What isn't known of a machine isn't known of its rest; an overfull one has nothing left."""
    capacity, consumed = (_by_field(given, side) for side in ("capacity", "consumed"))
    left = _shown(_resources(capacity) - _resources(consumed))
    return {
        "left": [None if capacity[field] is None else max(0, left[field]) for field in capacity]
    }


def _requests(cpu: str | None, memory: str | None = None, gpu: int | None = None) -> Json:
    wanted = {"cpu": cpu, "memory": memory, GPU: gpu}
    return {name: str(amount) for name, amount in wanted.items() if amount is not None}


def _by_field(given: Json, side: str) -> dict[str, Any]:
    return dict(zip(given.get("fields", FIELDS), given[side], strict=False))


def _resources(fields: dict[str, Any]) -> Resources:
    known = {field: amount for field, amount in fields.items() if amount is not None}
    return parse_resources(
        {
            name: f"{known[field]}{suffix}"
            for field, (name, suffix) in UNITS.items()
            if field in known
        }
    )


def _shown(resources: Resources) -> dict[str, int]:
    return {field: _up(resources[name], field) for field, (name, _) in UNITS.items()}


def _up(amount: int, field: str) -> int:
    return -(-amount // SIZES[field])
