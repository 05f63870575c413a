"""The input for user data, and the labels that a kubelet may set on its own node."""

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
    """A server that will join, with everything that its user data needs."""

    order: Order
    bootstrap: Bootstrap
    cluster: str
    token: str = ""
    """The join token, for the kinds that need one."""
    template: str = ""
    """The user data or machine configuration that the user has written."""
    network: int | None = None
    """The ID of the private network in which the node has its address, if there is one."""

    @override
    def __repr__(self) -> str:
        # Logs and tracebacks must not show its secrets.
        return f"Joining({self.order.name})"

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the kubelet sets. Others are set by other programs, or after the join."""
        return {
            key: value for key, value in sorted(self.order.labels.items()) if self._is_set_here(key)
        }

    @property
    def taints(self) -> tuple[str, ...]:
        """The taints in the kubelet's format."""
        return tuple(_written(taint) for taint in self.order.taints)

    @property
    def has_cloud_controller(self) -> bool:
        """Whether Hetzner's cloud controller manager sets the node's location labels."""
        return self.bootstrap.cloud_provider is CloudProvider.EXTERNAL

    def _is_set_here(self, key: str) -> bool:
        if key in SET_BY_KUBELET:
            return False
        if key in SET_BY_CLOUD_CONTROLLER:
            return not self.has_cloud_controller
        return may_be_set_by_kubelet(key)


def may_be_set_by_kubelet(key: str) -> bool:
    """Whether a kubelet accepts this label in --node-labels: it refuses most of Kubernetes' own."""
    prefix, slash, _ = key.partition("/")
    is_of_kubernetes = bool(slash) and any(
        prefix == domain or prefix.endswith(f".{domain}") for domain in ("kubernetes.io", "k8s.io")
    )
    # A kubelet that is given any other label of Kubernetes' own ends with an error, and its server
    # never joins.
    if not is_of_kubernetes:
        return True
    return key in ALLOWED_OF_KUBERNETES or key.startswith(ALLOWED_PREFIXES)


def kubelet_arguments(joining: JoiningServer) -> dict[str, str]:
    """The kubelet's flags besides labels and taints."""
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
