"""The provider of each node class.

The client of a cloud is loaded only if there is a class that needs it, because a client library
takes a third of a second to load, and most clusters use only one cloud.
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
"""A namespace that is as old as the cluster and never recreated; its uid identifies the cluster."""


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
        installation: Callable[[], str],
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
            installation=installation,
            pool=sources.store(NodePool.__name__).get,
            requests=self._requests,
            endpoints={"hetzner": settings.hetzner_endpoint},
            join_approval=settings.join_approval,
        )

    async def warm_up(self) -> None:
        """Load the clients of the existing classes in a thread, before they are needed."""
        for kind, provider in PROVIDERS.items():
            if self._sources.store(kind).objects:
                await asyncio.to_thread(import_module, provider.clients)

    def provider_of(self, key: ClassKey) -> Provider | None:
        """The provider of this class; None if its kind isn't known."""
        if key.kind not in PROVIDERS:
            return None
        store = self._sources.store(key.kind)
        return self._clients_of(key.kind).provider(key.name, lambda: store.get(key.name))

    async def close(self) -> None:
        """Close all connections to clouds."""
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
        """The id of the cluster; "" while it isn't known, and then nothing is bought."""
        # Machines are labelled with it. Without the label, they couldn't be found again.
        if self._settings.cluster_id:
            return self._settings.cluster_id
        namespace = self._sources.store("namespaces").get(CLUSTER)
        return "" if namespace is None else str(namespace.metadata.uid)
