"""The interface between the process and the clients of a cloud."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prometheus_client import CollectorRegistry

    from growth.api.joining import JoinApproval
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.kube.transport import Connection
    from reconciler.providers.port import Provider


@dataclass(frozen=True, kw_only=True)
class ProviderHost:
    """What the clients of a cloud get from the process."""

    connection: Connection
    """To the API server."""
    registry: CollectorRegistry
    now: Callable[[], Instant]
    doubted: Callable[[], None]
    """Called when the results of earlier checks of node classes may be outdated."""
    cluster: Callable[[], str]
    """The id of the cluster; empty until it is known."""
    installation: Callable[[], str]
    """The id of this installation of growth in the cluster."""
    pool: Callable[[str], NodePool | None]
    requests: Callable[[], Iterable[NodeRequest]]
    endpoints: Mapping[str, str]
    """Addresses of APIs, by provider. A provider without an entry uses its default address."""
    join_approval: JoinApproval
    """What approves the certificates of joining kubelets."""


class ProviderClients(Protocol):
    """All clients of one provider kind."""

    def provider(self, name: str, node_class: Callable[[], Any]) -> Provider | None:
        """The port of the class of this name; None while its machines couldn't be found again."""

    async def close(self) -> None:
        """Close all connections."""
