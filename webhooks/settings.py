"""What the webhook process can be told, beyond what every process can."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import PlainValidator

from growth.api.installed import NAMESPACE
from growth.service.address import Address
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings


class WebhooksSettings(ServiceSettings):
    """What the webhook process can be told."""

    metrics_address: MetricsAddress = Address(host="", port=10282)

    webhook_address: Annotated[
        Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")
    ] = Address(host="", port=9443)
    """Where kube-apiserver posts its reviews, in HTTPS. Without a host: on every interface. Port 0
    takes a free one; the log says which."""

    webhook_tls_folder: Annotated[Path, Listed("TLS", "FOLDER")] = Path("/run/growth/webhook-tls")
    """The certificate that is shown to kube-apiserver: tls.crt and tls.key, as in a mounted Secret.
    They may come late and change at any time; until they are good the process isn't ready."""

    @property
    def own_namespace(self) -> str:
        """The namespace whose pods are never touched, as we are one of them."""
        return namespace_of_this_pod() or NAMESPACE
