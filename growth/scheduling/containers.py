"""Containers and their resources, as a pod's spec and status tell them."""

from __future__ import annotations

import msgspec

from growth.scheduling.ports import ContainerPort
from growth.scheduling.quantity import Amount


class ResourceRequirements(msgspec.Struct, frozen=True, gc=False):
    """What is asked for and what is allowed at most, as text."""

    requests: dict[str, Amount] = {}
    limits: dict[str, Amount] = {}


class RestartRule(msgspec.Struct, frozen=True, gc=False):
    """What happens after certain exit codes. Some actions need a node that knows them."""

    action: str = ""


class Container(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A container, or an init container; one that restarts always is a sidecar."""

    name: str = ""
    resources: ResourceRequirements | None = None
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartRule, ...] | None = None

    @property
    def is_sidecar(self) -> bool:
        """Whether an init container runs for as long as the pod."""
        return self.restart_policy == "Always"


class ResourcesInForce(msgspec.Struct, frozen=True, gc=False):
    """What the kubelet enforces; of a running pod nobody asks for its limits."""

    requests: dict[str, Amount] = {}


class ContainerStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the kubelet has really given: `resources` is in force, `allocated` is promised."""

    name: str = ""
    resources: ResourcesInForce | None = None
    allocated_resources: dict[str, Amount] = {}
