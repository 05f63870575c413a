"""Containers and their resources, in the spec and the status of a pod."""

from __future__ import annotations

import msgspec

from growth.scheduling.ports import ContainerPort
from growth.scheduling.quantity import Amount


class ResourceRequirements(msgspec.Struct, frozen=True, gc=False):
    """Requests and limits, as text."""

    requests: dict[str, Amount] = {}
    limits: dict[str, Amount] = {}


class RestartRule(msgspec.Struct, frozen=True, gc=False):
    """What happens after certain exit codes; some actions need a node that supports them."""

    action: str = ""


class Container(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A container or an init container; an init container that always restarts is a sidecar."""

    name: str = ""
    resources: ResourceRequirements | None = None
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartRule, ...] | None = None

    @property
    def is_sidecar(self) -> bool:
        """Whether this init container runs as long as the pod."""
        return self.restart_policy == "Always"


class ResourcesInForce(msgspec.Struct, frozen=True, gc=False):
    """The requests that the kubelet enforces; limits aren't needed here."""

    requests: dict[str, Amount] = {}


class ContainerStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the kubelet has assigned: `resources` is enforced, `allocated_resources` is promised."""

    name: str = ""
    resources: ResourcesInForce | None = None
    allocated_resources: dict[str, Amount] = {}
