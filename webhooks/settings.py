"""The settings of the webhooks, in addition to those of all processes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import PlainValidator

from growth.api.installed import NAMESPACE
from growth.service.address import Address
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings


class WebhooksSettings(ServiceSettings):
    """The settings of the webhooks process."""

    metrics_address: MetricsAddress = Address(host="", port=10282)

    webhook_address: Annotated[
        Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")
    ] = Address(host="", port=9443)
    """The HTTPS address for kube-apiserver's reviews. Without a host, it listens on all interfaces.
    With port 0, a free port is used, and the log names it."""

    webhook_tls_folder: Annotated[Path, Listed("TLS", "FOLDER")] = Path("/run/growth/webhook-tls")
    """The certificate for kube-apiserver: tls.crt and tls.key, as in a mounted Secret. The files
    may appear late and change at any time; the process isn't ready until they are valid."""

    @property
    def own_namespace(self) -> str:
        """The namespace of this process, whose pods are exempt."""
        return namespace_of_this_pod() or NAMESPACE
