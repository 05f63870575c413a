"""The settings of the process that sizes workloads, in addition to those of every process."""

from __future__ import annotations

from typing import Annotated

from growth.api.installed import NAMESPACE
from growth.service.address import Address
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings
from sizing.core.world import SizingMode


class SizingSettings(ServiceSettings):
    """The settings of the process that sizes workloads."""

    metrics_address: MetricsAddress = Address(host="", port=10288)

    mode: Annotated[SizingMode, Listed("Sizing", "MODE")] = SizingMode.OBSERVE
    """Observe: only the status of Hvpas is written. Apply: replicas and pods change, too."""

    lease_namespace: Annotated[str, Listed("Cluster", "NAMESPACE")] = ""
    """Namespace of the Lease. Default: the pod's namespace in a cluster, otherwise
    growth-system."""

    @property
    def namespace(self) -> str:
        """The namespace of the Lease."""
        return self.lease_namespace or namespace_of_this_pod() or NAMESPACE
