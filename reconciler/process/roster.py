"""Which provider answers for a node class.

The clients of a cloud are loaded when there is a class that needs them: a client library takes a
third of a second to load, and most clusters use one cloud.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Final

from growth.api.nodepool import NodePool
from growth.api.noderequest import NodeRequest
from reconciler.providers.hosting import ProviderHost
from reconciler.providers.registry import PROVIDERS
from reconciler.seeing.moment import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry

    from growth.kube.transport import Connection
    from reconciler.providers.hosting import ProviderClients
    from reconciler.providers.port import ClassKey, Provider
    from reconciler.seeing.sources import ReconcilerSources
    from reconciler.settings import ReconcilerSettings

CLUSTER: Final = "kube-system"
"""The namespace that is as old as the cluster and is never made anew: its uid is the cluster's."""


class Roster:
    """The providers of all node classes."""

    def __init__(
        self,
        connection: Connection,
        *,
        sources: ReconcilerSources,
        settings: ReconcilerSettings,
        registry: CollectorRegistry,
        doubted: Callable[[], None],
    ) -> None:
        self._sources = sources
        self._settings = settings
        self._clients: dict[str, ProviderClients] = {}
        self._host = ProviderHost(
            connection=connection,
            registry=registry,
            now=now,
            doubted=doubted,
            cluster=self._cluster,
            pool=sources.store(NodePool.__name__).get,
            requests=self._requests,
            endpoints={"hetzner": settings.hetzner_endpoint},
        )

    async def warm_up(self) -> None:
        """Load what the classes need that there are, beside the loop and before it is needed."""
        for kind, provider in PROVIDERS.items():
            if self._sources.store(kind).objects:
                await asyncio.to_thread(import_module, provider.clients)

    def provider_of(self, key: ClassKey) -> Provider | None:
        """The port of this class; None if it is of a kind that isn't known."""
        if key.kind not in PROVIDERS:
            return None
        store = self._sources.store(key.kind)
        return self._clients_of(key.kind).provider(key.name, lambda: store.get(key.name))

    async def close(self) -> None:
        """End all connections to clouds."""
        for clients in self._clients.values():
            await clients.close()

    def _clients_of(self, kind: str) -> ProviderClients:
        if kind not in self._clients:
            module = import_module(PROVIDERS[kind].clients)
            self._clients[kind] = module.open_clients(self._host)
        return self._clients[kind]

    def _requests(self) -> Iterable[NodeRequest]:
        return self._sources.store(NodeRequest.__name__).objects.values()

    def _cluster(self) -> str:
        """Empty as long as nobody knows: nothing is bought that couldn't be found again."""
        if self._settings.cluster_id:
            return self._settings.cluster_id
        namespace = self._sources.store("namespaces").get(CLUSTER)
        return "" if namespace is None else str(namespace.metadata.uid)
