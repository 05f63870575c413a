"""The settings of the extender, in addition to those of all processes."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator

from growth.service.address import Address
from growth.service.settings import Listed, MetricsAddress, ServiceSettings
from growth.service.tls import TlsFolder  # noqa: TC001 - pydantic reads it at run time

ListenAddress = Annotated[Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")]


class ExtenderSettings(ServiceSettings):
    """The settings of the extender process."""

    metrics_address: MetricsAddress = Address(host="", port=10281)

    verbs_address: ListenAddress = Address(host="127.0.0.1", port=10284)
    """The address for kube-scheduler's calls. Any but loopback requires --verbs-tls-folder."""

    verbs_tls_folder: TlsFolder = None
    """tls.crt and tls.key for these calls. Not set: plain HTTP. kube-scheduler reads the authority
    of this certificate only when it starts, so the authority must not change by itself."""

    demand_address: ListenAddress = Address(host="127.0.0.1", port=10285)
    """The address of the demand stream. Any but loopback requires --demand-tls-folder."""

    demand_tls_folder: TlsFolder = None
    """tls.crt and tls.key for the stream, and in ca.crt the authority of its readers' certificates.
    Not set: plain HTTP."""
