"""The settings of the process that keeps certificates, in addition to those of every process."""

from __future__ import annotations

from typing import Annotated

from certs.wanted import WANTED, WantedAuthority, without_webhook
from growth.api.installed import NAMESPACE
from growth.api.joining import JoinApproval
from growth.installation.values import Admission
from growth.service.address import Address
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings


class CertsSettings(ServiceSettings):
    """The settings of the process that keeps certificates."""

    metrics_address: MetricsAddress = Address(host="", port=10286)

    certs_namespace: Annotated[str, Listed("Cluster", "NAMESPACE")] = ""
    """Namespace of the Secrets. Default: the pod's namespace in a cluster, otherwise
    growth-system."""

    admission: Annotated[Admission, Listed("Cluster", "HOW")] = Admission.WEBHOOK
    """How pods are admitted. Webhook: the API server has to trust the webhook's certificate, which
    is written to its configuration. Policy: there is no webhook."""

    join_approval: Annotated[JoinApproval, Listed("Cluster", "WHO")] = JoinApproval.CLUSTER
    """Growth: approve the certificate of a kubelet that joins with one of growth's tokens, if it is
    for the machine that the token was made for. Cluster: approve nothing."""

    @property
    def namespace(self) -> str:
        """The namespace of the Secrets."""
        return self.certs_namespace or namespace_of_this_pod() or NAMESPACE

    @property
    def wanted(self) -> tuple[WantedAuthority, ...]:
        """The certificates to keep."""
        return WANTED if self.admission is Admission.WEBHOOK else without_webhook(WANTED)
