"""What the process hands to the clients of a cloud, and what they give in return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prometheus_client import CollectorRegistry

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.kube.transport import Connection
    from reconciler.providers.port import Provider


@dataclass(frozen=True, kw_only=True)
class ProviderHost:
    """The process, as far as clients of clouds need it."""

    connection: Connection
    """To the API server."""
    registry: CollectorRegistry
    now: Callable[[], Instant]
    doubted: Callable[[], None]
    """Called when what is known of node classes may no longer be so: ask again."""
    cluster: Callable[[], str]
    """The cluster's id; empty while it isn't known."""
    pool: Callable[[str], NodePool | None]
    requests: Callable[[], Iterable[NodeRequest]]
    endpoints: Mapping[str, str]
    """Addresses of APIs, by provider; a provider without one uses its usual address."""


class ProviderClients(Protocol):
    """All clients of one kind of cloud."""

    def provider(self, name: str, node_class: Callable[[], Any]) -> Provider | None:
        """The port of the class of this name; None while nobody could find what it bought."""

    async def close(self) -> None:
        """End all connections."""
