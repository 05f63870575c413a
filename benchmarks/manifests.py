"""What benchmarks on a real control plane apply: a catalogue, its pool, and deployments.

The price lists and shapes of pods are those of the solver's benchmark (`benchmarks.workloads`), as
Kubernetes objects.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from benchmarks.workloads import RESOURCES, catalogue, workload
from reconciler.providers.kwok.machines import FAKE_NODE_ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reconciler.solver.model.problem import Offer, PodClass

_UNITS: Final = {"cpu": "m", "memory": "Mi", "ephemeral-storage": "Mi", "pods": ""}
_LABELS: Final = {"terms": "example.com/terms"}


def class_and_pool(
    prices: str, *, seed: int, spec: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """A provider with this price list, and a pool that may buy all of it without a limit."""
    types: dict[str, dict[str, Any]] = {}
    for offer in catalogue(prices, seed):
        entry = types.setdefault(offer.type, _type(offer))
        entry["offers"].append(_offer(offer))
    pool = {"serverTypes": [{"name": name, "max": 10_000} for name in types]}
    return [
        _object("KwokNodeClass", {"types": list(types.values()), **(spec or {})}),
        _object("NodePool", pool),
    ]


def control_plane() -> dict[str, Any]:
    """A node that no pod uses: without any node, the scheduler retries every pod at every event."""
    size = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "control-plane", "annotations": {FAKE_NODE_ANNOTATION: "fake"}},
        "spec": {"taints": [taint]},
        "status": {"capacity": size, "allocatable": size},
    }


def _object(kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "growth.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": "default"},
        "spec": spec,
    }


def _type(offer: Offer) -> dict[str, Any]:
    return {
        "name": offer.type,
        "architecture": offer.labels["arch"],
        "resources": amounts(offer.capacity),
        "offers": [],
    }


def _offer(offer: Offer) -> dict[str, Any]:
    own = {_LABELS[key]: value for key, value in offer.labels.items() if key in _LABELS}
    price = f"{Decimal(offer.price) / 1_000_000:.6f}"
    return {"location": offer.location, "price": price, "labels": own}


def amounts(numbers: Sequence[int]) -> dict[str, str]:
    """Amounts of the solver's resources as Kubernetes writes them."""
    named = zip(RESOURCES, numbers, strict=True)
    return {name: f"{number}{_UNITS[name]}" for name, number in named if number}


def deployments(
    *, pods: int, count: int, seed: int, spec: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """This many pods of this many deployments, with the long tail of real clusters."""
    drawn = workload(
        offers=(), pods="heavy", constraints="off", classes=count, count=pods, seed=seed
    )
    for each in drawn.classes:
        yield deployment(each.name, replicas=each.count, requests=_requests(each), spec=spec)


def _requests(drawn: PodClass) -> dict[str, str]:
    return {name: text for name, text in amounts(drawn.requests).items() if name != "pods"}


def deployment(
    name: str,
    *,
    replicas: int,
    requests: Mapping[str, str],
    spec: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A deployment; `spec` is added to its pods."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": _pod(requests, spec)},
        },
    }


def pod(name: str, *, requests: Mapping[str, str]) -> dict[str, Any]:
    """A pod without an owner."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": _pod(requests, None),
    }


def _pod(requests: Mapping[str, str], spec: Mapping[str, Any] | None) -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"requests": dict(requests)}}
    return {"containers": [container], "terminationGracePeriodSeconds": 0, **(spec or {})}
