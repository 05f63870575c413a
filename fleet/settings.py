"""The settings of the manager of fleets, in addition to those of every process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import FilePath, PlainValidator

from growth.api.installed import NAMESPACE
from growth.service.address import Address
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings


class FleetSettings(ServiceSettings):
    """The settings of the manager of fleets."""

    metrics_address: MetricsAddress = Address(host="", port=10287)

    report_address: Annotated[
        Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")
    ] = Address(host="", port=9445)
    """HTTPS address for reports of agents. Without a host: all interfaces. Port 0: a free port,
    which the log names."""

    report_tls_folder: Annotated[Path, Listed("TLS", "FOLDER")] = Path("/run/growth/fleet-tls")
    """Folder with tls.crt and tls.key, the certificate for agents, as in a mounted Secret. The
    files may appear late and change at any time; until they are valid, the process isn't ready."""

    fleet_namespace: Annotated[str, Listed("Cluster", "NAMESPACE")] = ""
    """Namespace of the Lease and of the agents' ServiceAccounts. Default: the pod's namespace in a
    cluster, otherwise growth-system."""

    agent_keys: Annotated[FilePath | None, Listed("Agents", "FILE")] = None
    """A JSON Web Key Set: tokens that one of its keys has signed are accepted, too. It is read when
    the process starts."""

    agent_issuer: Annotated[str, Listed("Agents", "URL")] = ""
    """The issuer of these tokens."""

    @property
    def namespace(self) -> str:
        """The namespace of the Lease and of the agents' accounts."""
        return self.fleet_namespace or namespace_of_this_pod() or NAMESPACE
