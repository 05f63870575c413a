"""All that user data is made of, and which labels a kubelet may set on its own node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from typing_extensions import override

from growth.api.hetznernodeclass import Bootstrap, CloudProvider
from reconciler.providers.port import Order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.taints import Taint

SET_BY_KUBELET: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "csi.hetzner.cloud/location",
    }
)
SET_BY_CLOUD_CONTROLLER: Final = frozenset(
    {
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "instance.hetzner.cloud/provided-by",
    }
)
ALLOWED_OF_KUBERNETES: Final = frozenset(
    {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}
)
ALLOWED_PREFIXES: Final = ("node.kubernetes.io/", "kubelet.kubernetes.io/")


class JoiningServer(msgspec.Struct, frozen=True, kw_only=True):
    """One server that is to join, and everything that it has to know."""

    order: Order
    bootstrap: Bootstrap
    cluster: str
    token: str = ""
    """The secret that it joins with, for the kinds that need one."""
    template: str = ""
    """The user data or machine configuration that a person has written."""
    is_in_private_network: bool = False

    @override
    def __repr__(self) -> str:
        # Whatever prints it must not print its secrets.
        return f"Joining({self.order.name})"

    @property
    def labels(self) -> dict[str, str]:
        """Labels that the kubelet is told to set; others come from others, or after the join."""
        return {
            key: value for key, value in sorted(self.order.labels.items()) if self._is_set_here(key)
        }

    @property
    def taints(self) -> tuple[str, ...]:
        """Taints as the kubelet reads them."""
        return tuple(_written(taint) for taint in self.order.taints)

    @property
    def has_cloud_controller(self) -> bool:
        """Whether Hetzner's controller tells the node where it is."""
        return self.bootstrap.cloud_provider is CloudProvider.EXTERNAL

    def _is_set_here(self, key: str) -> bool:
        if key in SET_BY_KUBELET:
            return False
        if key in SET_BY_CLOUD_CONTROLLER:
            return not self.has_cloud_controller
        return may_be_set_by_kubelet(key)


def may_be_set_by_kubelet(key: str) -> bool:
    """Whether a kubelet starts with this label: most of Kubernetes' own are kept from nodes."""
    prefix, slash, _ = key.partition("/")
    is_of_kubernetes = bool(slash) and any(
        prefix == domain or prefix.endswith(f".{domain}") for domain in ("kubernetes.io", "k8s.io")
    )
    if not is_of_kubernetes:
        return True
    return key in ALLOWED_OF_KUBERNETES or key.startswith(ALLOWED_PREFIXES)


def kubelet_arguments(joining: JoiningServer) -> dict[str, str]:
    """What the kubelet is told besides labels and taints."""
    kubelet = joining.bootstrap.kubelet
    arguments = {"max-pods": str(kubelet.max_pods)}
    if joining.has_cloud_controller:
        arguments["cloud-provider"] = "external"
    if kubelet.eviction_hard:
        arguments["eviction-hard"] = _joined(kubelet.eviction_hard, sign="<")
    if kubelet.reserved:
        arguments["kube-reserved"] = _joined(kubelet.reserved, sign="=")
    return arguments


def _joined(entries: Mapping[str, str], *, sign: str) -> str:
    return ",".join(f"{key}{sign}{value}" for key, value in sorted(entries.items()))


def _written(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}"
