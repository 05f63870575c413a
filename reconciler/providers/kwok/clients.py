"""The clients of simulated clouds: one for each class, all through the API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.providers.kwok.provider import KwokProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.kwoknodeclass import KwokNodeClass
    from reconciler.providers.hosting import ProviderHost


class KwokClients:
    """The simulated clouds of all KwokNodeClasses."""

    def __init__(self, host: ProviderHost) -> None:
        self._host = host
        self._providers: dict[str, KwokProvider] = {}

    def provider(self, name: str, node_class: Callable[[], KwokNodeClass | None]) -> KwokProvider:
        """The port of one class; the same object each time."""
        if name not in self._providers:
            self._providers[name] = KwokProvider(
                self._host.connection, node_class=node_class, now=self._host.now
            )
        return self._providers[name]

    async def close(self) -> None:
        """Do nothing: the only connection is the process's own."""


def open_clients(host: ProviderHost) -> KwokClients:
    """Create the clients for this process."""
    return KwokClients(host)
