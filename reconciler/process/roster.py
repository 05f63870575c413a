"""Which provider answers for a node class. All classes at Hetzner share one cloud.

Hetzner's client library takes a third of a second to load, so it is loaded when there is a class
that needs it.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Final

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderequest import COMING, NodeRequest
from reconciler.providers.kwok.provider import KwokProvider
from reconciler.seeing.moment import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client import CollectorRegistry

    from growth.kube.transport import Connection
    from reconciler.providers.hetzner.provider import HetznerCloud
    from reconciler.providers.port import ClassKey, Order, Provider
    from reconciler.seeing.sources import ReconcilerSources
    from reconciler.settings import ReconcilerSettings

USUAL_WAIT: Final = timedelta(minutes=10)
"""How long a join token lives whose pool is gone."""
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
        self._connection = connection
        self._sources = sources
        self._settings = settings
        self._registry = registry
        self._doubted = doubted
        self._hetzner: HetznerCloud | None = None
        self._simulated: dict[ClassKey, KwokProvider] = {}

    async def warm_up(self) -> None:
        """Load what the classes need that there are, beside the loop and before it is needed."""
        if self._sources.store(HetznerNodeClass.__name__).objects:
            await asyncio.to_thread(import_module, "reconciler.providers.hetzner.provider")

    def provider_of(self, key: ClassKey) -> Provider | None:
        """Who answers for this class; nobody, if it is of a kind that we don't know."""
        store = self._sources.store(key.kind) if key.kind in _KINDS else None
        if store is None:
            return None
        if key.kind == KwokNodeClass.__name__:
            if key not in self._simulated:
                self._simulated[key] = KwokProvider(
                    self._connection, node_class=lambda: store.get(key.name), now=now
                )
            return self._simulated[key]
        cloud = self._cloud()
        return None if cloud is None else cloud.provider(lambda: store.get(key.name))

    async def close(self) -> None:
        """End all connections to clouds."""
        if self._hetzner is not None:
            await self._hetzner.close()

    def _cloud(self) -> HetznerCloud | None:
        if self._hetzner is None and (cluster := self._cluster()):
            self._hetzner = self._made(cluster)
        return self._hetzner

    def _cluster(self) -> str:
        """Empty as long as nobody knows: nothing is bought that couldn't be found again."""
        if self._settings.cluster_id:
            return self._settings.cluster_id
        namespace = self._sources.store("namespaces").get(CLUSTER)
        return "" if namespace is None else str(namespace.metadata.uid)

    def _made(self, cluster: str) -> HetznerCloud:
        from reconciler.providers.hetzner.cluster_secrets import ClusterSecrets  # noqa: PLC0415
        from reconciler.providers.hetzner.metrics import HetznerMetrics  # noqa: PLC0415
        from reconciler.providers.hetzner.provider import HetznerCloud  # noqa: PLC0415

        secrets = ClusterSecrets(
            self._connection, now=now, token_life=self._token_life, done=self._done
        )
        return HetznerCloud(
            cluster=cluster,
            secrets=secrets,
            now=now,
            metrics=HetznerMetrics(self._registry),
            endpoint=self._settings.hetzner_endpoint,
            doubted=self._doubted,
        )

    def _done(self) -> Iterator[str]:
        """Requests that no machine will join for any more."""
        for request in self._sources.store(NodeRequest.__name__).objects.values():
            is_of_hetzner = request.spec.target_offering.startswith("hetzner-")
            if is_of_hetzner and request.status.phase not in COMING:
                yield request.metadata.uid

    def _token_life(self, order: Order) -> timedelta:
        pool = self._sources.store(NodePool.__name__).get(order.pool)
        return USUAL_WAIT if pool is None else timedelta(seconds=pool.spec.readiness_wait.seconds)


_KINDS: Final = frozenset({KwokNodeClass.__name__, HetznerNodeClass.__name__})
