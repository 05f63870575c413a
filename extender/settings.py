"""What the extender can be told, beyond what every process can."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator

from growth.service.address import Address
from growth.service.settings import Listed, MetricsAddress, ServiceSettings
from growth.service.tls import TlsFolder  # noqa: TC001 - pydantic reads it at run time

ListenAddress = Annotated[Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")]


class ExtenderSettings(ServiceSettings):
    """What the extender process can be told."""

    metrics_address: MetricsAddress = Address(host="", port=10281)

    verbs_address: ListenAddress = Address(host="127.0.0.1", port=10284)
    """Where kube-scheduler asks. Anything but loopback needs --verbs-tls-folder."""

    verbs_tls_folder: TlsFolder = None
    """tls.crt and tls.key for the verbs. Not set: plain HTTP. kube-scheduler reads the authority of
    this certificate once, at its start, so that one must not change by itself."""

    demand_address: ListenAddress = Address(host="127.0.0.1", port=10285)
    """Where the demand is streamed. Anything but loopback needs --demand-tls-folder."""

    demand_tls_folder: TlsFolder = None
    """tls.crt and tls.key for the stream, and ca.crt: who has to have signed the certificate of
    whoever reads it. Not set: plain HTTP."""
