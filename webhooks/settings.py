"""The settings of the webhooks, in addition to those of every process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import PlainValidator

from growth.api.installed import NAMESPACE
from growth.service.address import Address
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings


class WebhooksSettings(ServiceSettings):
    """The settings of the webhooks."""

    metrics_address: MetricsAddress = Address(host="", port=10282)

    webhook_address: Annotated[
        Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")
    ] = Address(host="", port=9443)
    """HTTPS address for reviews of kube-apiserver. Without a host: all interfaces. Port 0: a free
    port, which the log names."""

    webhook_tls_folder: Annotated[Path, Listed("TLS", "FOLDER")] = Path("/run/growth/webhook-tls")
    """Folder with tls.crt and tls.key, the certificate for kube-apiserver, as in a mounted Secret.
    The files may appear late and change at any time; until they are valid, the process isn't
    ready."""

    @property
    def own_namespace(self) -> str:
        """The own namespace, whose pods are never changed."""
        return namespace_of_this_pod() or NAMESPACE
