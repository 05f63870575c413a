"""The files of an installation, their conditions, and where each option goes.

The table is data because it is used twice: to set a value, and to generate the Helm template that
sets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import CERTS, EXTENDER, RECONCILER, SCHEDULER, WEBHOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.installation.shipped import Object

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class When:
    """A condition: an option has this value."""

    value: str
    """Its name, as in values.yaml."""
    equals: str | bool


@dataclass(frozen=True)
class ManifestPart:
    """A file with manifests."""

    file: str
    """The path below manifests/."""
    when: tuple[When, ...] = ()
    """All of them must be true."""


@dataclass(frozen=True)
class ValuePlace:
    """A field that an option sets."""

    kind: str
    name: str
    path: Path
    value: str
    """Its name, as in values.yaml, with dots."""

    @property
    def is_text(self) -> bool:
        """Whether it is an environment variable, whose value must be text."""
        return "env" in self.path


_HETZNER: Final = (When("provider", "hetzner"),)
_KWOK: Final = (When("provider", "kwok"),)
_SECOND: Final = (When("scheduler", "Second"),)
_WEBHOOK: Final = (When("admission", "Webhook"),)
_MANAGED: Final = (When("certificates", "managed"),)
_APPROVING: Final = (*_HETZNER, *_MANAGED, When("joinApproval", "Growth"))
_MONITORING: Final = (When("monitoring", equals=True),)

NAMESPACE_PART: Final = ManifestPart("base/namespace.yaml")
"""It is applied first. Helm creates the namespace itself."""
PARTS: Final = (
    ManifestPart("base/priority.yaml"),
    ManifestPart("base/flow-control.yaml"),
    ManifestPart("base/guard.yaml"),
    ManifestPart("base/reconciler.yaml"),
    ManifestPart("base/deletion-cost.yaml", (When("podDeletionCost", "ByNode"),)),
    ManifestPart("base/certs.yaml", _MANAGED),
    ManifestPart("base/certs-webhook.yaml", (*_MANAGED, *_WEBHOOK)),
    ManifestPart("base/webhooks.yaml", _WEBHOOK),
    ManifestPart("base/webhook.yaml", _WEBHOOK),
    ManifestPart("base/admission-policy.yaml", (When("admission", "Policy"),)),
    ManifestPart("base/extender.yaml"),
    ManifestPart("base/metrics.yaml"),
    ManifestPart("base/metrics-access.yaml", (When("metricsAccess", "authenticated"),)),
    ManifestPart("base/network-policies.yaml", (When("networkPolicies", equals=True),)),
    ManifestPart("overlays/hetzner/access.yaml", _HETZNER),
    ManifestPart("overlays/hetzner/guard.yaml", _HETZNER),
    ManifestPart("overlays/hetzner/join-approval.yaml", _APPROVING),
    ManifestPart("overlays/kwok/access.yaml", _KWOK),
    ManifestPart("overlays/second-scheduler/access.yaml", _SECOND),
    ManifestPart("overlays/second-scheduler/kustomization.yaml", _SECOND),
    ManifestPart("overlays/second-scheduler/scheduler.yaml", _SECOND),
    ManifestPart("monitoring/service-monitor.yaml", _MONITORING),
    ManifestPart("monitoring/rules.yaml", _MONITORING),
    ManifestPart("monitoring/dashboard.yaml", _MONITORING),
)

_POD: Final[Path] = ("spec", "template", "spec")


def _of_workload(
    kind: str, name: str, process: str, image: str, *, container: int = 0
) -> Iterator[ValuePlace]:
    first = (*_POD, "containers", container)
    yield ValuePlace(kind, name, (*first, "image"), f"images.{image}")
    yield ValuePlace(kind, name, (*first, "resources"), f"resources.{process}")
    yield ValuePlace(kind, name, (*first, "env", 0, "value"), "logLevel")
    yield ValuePlace(kind, name, (*first, "env", 1, "value"), "metricsAccess")
    yield ValuePlace(kind, name, (*_POD, "imagePullSecrets"), "imagePullSecrets")


PLACES: Final = (
    *_of_workload("Deployment", RECONCILER, "reconciler", "reconciler"),
    *_of_workload("Deployment", WEBHOOKS, "webhooks", "servers"),
    *_of_workload("Deployment", CERTS, "certs", "servers"),
    *_of_workload("DaemonSet", EXTENDER, "extender", "servers"),
    *_of_workload("Deployment", SCHEDULER, "extender", "servers", container=1),
    ValuePlace("Deployment", RECONCILER, (*_POD, "containers", 0, "env", 3, "value"), "mode"),
    ValuePlace(
        "Deployment", RECONCILER, (*_POD, "containers", 0, "env", 4, "value"), "maxNodesPerHour"
    ),
    ValuePlace(
        "Deployment", RECONCILER, (*_POD, "containers", 0, "env", 5, "value"), "joinApproval"
    ),
    ValuePlace(
        "Deployment", RECONCILER, (*_POD, "containers", 0, "env", 6, "value"), "podDeletionCost"
    ),
    ValuePlace("Deployment", CERTS, (*_POD, "containers", 0, "env", 2, "value"), "admission"),
    ValuePlace("Deployment", CERTS, (*_POD, "containers", 0, "env", 3, "value"), "joinApproval"),
    ValuePlace("Deployment", SCHEDULER, (*_POD, "containers", 0, "image"), "images.scheduler"),
    ValuePlace("Deployment", RECONCILER, ("spec", "replicas"), "replicas.reconciler"),
    ValuePlace("Deployment", WEBHOOKS, ("spec", "replicas"), "replicas.webhooks"),
    ValuePlace("Deployment", SCHEDULER, ("spec", "replicas"), "replicas.scheduler"),
)


def places_of(item: Object) -> Iterable[ValuePlace]:
    """The places in an object."""
    me = (item["kind"], item["metadata"]["name"])
    return (place for place in PLACES if (place.kind, place.name) == me)


def at(tree: Any, path: Iterable[str | int]) -> Any:
    """The value at a path."""
    for step in path:
        tree = tree[step]
    return tree


def put(item: Object, path: Path, value: Any) -> None:
    """Replace the value at a path; it must exist, to detect mistakes in the table."""
    at(item, path)
    at(item, path[:-1])[path[-1]] = value
