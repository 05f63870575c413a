"""Which files make an installation, under which condition, and where in them each value goes.

The table is data, since it is read twice: to put a value there, and to put the word there by which
Helm puts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.installation.shipped import Object

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class When:
    """A condition: a value is this one."""

    value: str
    """Its name, as in values.yaml."""
    equals: str | bool


@dataclass(frozen=True)
class Part:
    """A file of manifests."""

    file: str
    """Below manifests/."""
    when: When | None = None
    """None: always."""


@dataclass(frozen=True)
class Place:
    """A field that holds a value."""

    kind: str
    name: str
    path: Path
    value: str
    """Its name, as in values.yaml, with dots."""


NAMESPACE: Final = "growth-system"
"""As the manifests call it; wherever it stands the real one is put."""
_HETZNER: Final = When("provider", "hetzner")
_KWOK: Final = When("provider", "kwok")
_SECOND: Final = When("scheduler", "Second")
_WEBHOOK: Final = When("admission", "Webhook")
_MONITORING: Final = When("monitoring", equals=True)

NAMESPACE_PART: Final = Part("base/namespace.yaml")
"""The first of all. Helm has a way of its own to make it."""
PARTS: Final = (
    Part("base/priority.yaml"),
    Part("base/reconciler.yaml"),
    Part("base/guard.yaml"),
    Part("base/webhooks.yaml", _WEBHOOK),
    Part("base/webhook.yaml", _WEBHOOK),
    Part("base/admission-policy.yaml", When("admission", "Policy")),
    Part("base/extender.yaml"),
    Part("base/metrics.yaml"),
    Part("base/network-policies.yaml", When("networkPolicies", equals=True)),
    Part("overlays/hetzner/access.yaml", _HETZNER),
    Part("overlays/hetzner/guard.yaml", _HETZNER),
    Part("overlays/kwok/access.yaml", _KWOK),
    Part("overlays/second-scheduler/access.yaml", _SECOND),
    Part("overlays/second-scheduler/kustomization.yaml", _SECOND),
    Part("overlays/second-scheduler/scheduler.yaml", _SECOND),
    Part("monitoring/service-monitor.yaml", _MONITORING),
    Part("monitoring/rules.yaml", _MONITORING),
    Part("monitoring/dashboard.yaml", _MONITORING),
)

_POD: Final[Path] = ("spec", "template", "spec")


def _of_workload(
    kind: str, name: str, process: str, image: str, *, container: int = 0
) -> Iterator[Place]:
    first = (*_POD, "containers", container)
    yield Place(kind, name, (*first, "image"), f"images.{image}")
    yield Place(kind, name, (*first, "resources"), f"resources.{process}")
    yield Place(kind, name, (*first, "env", 0, "value"), "logLevel")
    yield Place(kind, name, (*_POD, "imagePullSecrets"), "imagePullSecrets")


PLACES: Final = (
    *_of_workload("Deployment", "growth-reconciler", "reconciler", "reconciler"),
    *_of_workload("Deployment", "growth-webhooks", "webhooks", "servers"),
    *_of_workload("DaemonSet", "growth-extender", "extender", "servers"),
    *_of_workload("Deployment", "growth-scheduler", "extender", "servers", container=1),
    Place(
        "Deployment",
        "growth-reconciler",
        (*_POD, "containers", 0, "env", 1, "value"),
        "certificates",
    ),
    Place("Deployment", "growth-scheduler", (*_POD, "containers", 0, "image"), "images.scheduler"),
    Place("Deployment", "growth-reconciler", ("spec", "replicas"), "replicas.reconciler"),
    Place("Deployment", "growth-webhooks", ("spec", "replicas"), "replicas.webhooks"),
    Place("Deployment", "growth-scheduler", ("spec", "replicas"), "replicas.scheduler"),
)


def places_of(item: Object) -> Iterable[Place]:
    """The places in one object."""
    me = (item["kind"], item["metadata"]["name"])
    return (place for place in PLACES if (place.kind, place.name) == me)


def at(tree: Any, path: Iterable[str | int]) -> Any:
    """What stands at a path."""
    for step in path:
        tree = tree[step]
    return tree


def put(item: Object, path: Path, value: Any) -> None:
    """Replace what stands at a path, which has to be there: a table can be wrong."""
    at(item, path)
    at(item, path[:-1])[path[-1]] = value
