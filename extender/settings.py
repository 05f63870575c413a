"""The settings of the extender, in addition to those of every process."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator

from growth.service.address import Address
from growth.service.settings import Listed, MetricsAddress, ServiceSettings
from growth.service.tls import TlsFolder  # noqa: TC001 - pydantic reads it at run time

ListenAddress = Annotated[Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")]


class ExtenderSettings(ServiceSettings):
    """The settings of the extender."""

    metrics_address: MetricsAddress = Address(host="", port=10281)

    verbs_address: ListenAddress = Address(host="127.0.0.1", port=10284)
    """Address for calls of kube-scheduler. Any address but loopback needs --verbs-tls-folder."""

    verbs_tls_folder: TlsFolder = None
    """Folder with tls.crt and tls.key for calls of kube-scheduler. Default: plain HTTP.
    kube-scheduler reads the CA of this certificate once, at startup, so the CA must not be rotated
    automatically."""

    demand_address: ListenAddress = Address(host="127.0.0.1", port=10285)
    """Address of the demand stream. Any address but loopback needs --demand-tls-folder."""

    demand_tls_folder: TlsFolder = None
    """Folder with tls.crt and tls.key for the demand stream, and ca.crt, the CA of its readers'
    certificates. Default: plain HTTP."""
