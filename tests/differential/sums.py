"""What a pod asks for, worked out a second time, to set nodes exactly on the boundary.

Nothing of `growth.scheduling` is used: a generator that shares the subject's mistakes would step
around them. A slip here costs a boundary, never a verdict.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from kubernetes.utils.quantity import parse_quantity

if TYPE_CHECKING:
    from tests.differential.cases import Manifest

_POD_LEVEL = ("cpu", "memory", "hugepages-")


def occupied(pod: Manifest, resource: str) -> int:
    """What a pod on a node takes: the most of its spec and what its status says it has."""
    if resource == "pods":
        return 1
    stated = list(map(_up, _stated(pod, resource)))
    conditions = pod.get("status", {}).get("conditions", ())
    refused = any(condition["reason"] == "Infeasible" for condition in conditions)
    return max(stated) if refused else max(asked(pod, resource), *stated, 0)


def _stated(pod: Manifest, resource: str) -> list[Decimal]:
    states = pod.get("status", {}).get("containerStatuses", ())
    return [
        units(resource, amounts.get(resource, "0"))
        for state in states
        for amounts in (state["allocatedResources"], state["resources"]["requests"])
    ]


def units(resource: str, quantity: str) -> Decimal:
    """Thousandths of a CPU, or bytes and pieces and parts of them; the API server keeps no less."""
    scale = 1000 if resource == "cpu" else 1
    exact: Decimal = parse_quantity(quantity)  # type: ignore[no-untyped-call]  # has no types
    return (exact * 1000).to_integral_value(ROUND_CEILING) * scale / 1000


def _up(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_CEILING))


def written(resource: str, amount: int) -> str:
    """The plainest text of an amount in units."""
    return f"{amount}m" if resource == "cpu" else str(amount)


def asked(pod: Manifest, resource: str) -> int:
    """The effective request of a pod for a resource, in units, by its spec."""
    if resource == "pods":
        return 1
    spec = pod["spec"]
    total = _containers(spec, resource)
    pod_level = spec.get("resources", {}).get("requests", {})
    if resource in pod_level and resource.startswith(_POD_LEVEL):
        total = units(resource, pod_level[resource])
    return _up(total + units(resource, spec.get("overhead", {}).get(resource, "0")))


def _containers(spec: Manifest, resource: str) -> Decimal:
    running = sum((_request(container, resource) for container in spec["containers"]), Decimal())
    sidecars, peak = Decimal(), Decimal()
    for container in spec.get("initContainers", ()):
        wanted = sidecars + _request(container, resource)
        peak = max(peak, wanted)
        if container.get("restartPolicy") == "Always":
            sidecars = wanted
    return max(running + sidecars, peak)


def _request(container: Manifest, resource: str) -> Decimal:
    resources = container.get("resources", {})
    for side in ("requests", "limits"):
        if resource in resources.get(side, {}):
            return units(resource, resources[side][resource])
    return Decimal()


def counts(pod: Manifest) -> bool:
    """Whether a pod on a node still takes room."""
    return pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}
