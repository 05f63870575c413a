"""The clients of Hetzner Cloud: all classes share one cloud, which is opened when it is needed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from growth.api.noderequest import COMING
from reconciler.providers.hetzner.calls import ENDPOINT
from reconciler.providers.hetzner.catalogue import PROVIDER
from reconciler.providers.hetzner.cluster_secrets import ClusterSecrets
from reconciler.providers.hetzner.metrics import HetznerMetrics
from reconciler.providers.hetzner.provider import HetznerCloud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from growth.api.hetznernodeclass import HetznerNodeClass
    from reconciler.providers.hetzner.provider import HetznerProvider
    from reconciler.providers.hosting import ProviderHost
    from reconciler.providers.port import Order

USUAL_WAIT: Final = timedelta(minutes=10)
"""How long a join token lives if its pool is gone."""


class HetznerClients:
    """The cloud of all HetznerNodeClasses."""

    def __init__(self, host: ProviderHost) -> None:
        self._host = host
        self._cloud: HetznerCloud | None = None

    def provider(
        self, _: str, node_class: Callable[[], HetznerNodeClass | None]
    ) -> HetznerProvider | None:
        """The port of one class.

        None until the cluster's id is known: without it in their labels, growth couldn't find its
        servers again.
        """
        cluster = self._host.cluster()
        if self._cloud is None and cluster:
            self._cloud = self._opened(cluster)
        return None if self._cloud is None else self._cloud.provider(node_class)

    async def close(self) -> None:
        """Close all connections to the cloud."""
        if self._cloud is not None:
            await self._cloud.close()

    def _opened(self, cluster: str) -> HetznerCloud:
        host = self._host
        secrets = ClusterSecrets(
            host.connection,
            now=host.now,
            token_life=self._token_life,
            done=self._done,
            approval=host.join_approval,
        )
        return HetznerCloud(
            cluster=cluster,
            secrets=secrets,
            now=host.now,
            metrics=HetznerMetrics(host.registry),
            endpoint=host.endpoints.get(PROVIDER, ENDPOINT),
            doubted=host.doubted,
            installation=host.installation,
        )

    def _done(self) -> Iterator[str]:
        """The uids of requests whose machine has joined, or never will."""
        for request in self._host.requests():
            is_ours = request.spec.target_offering.startswith(f"{PROVIDER}-")
            if is_ours and request.status.phase not in COMING:
                yield request.metadata.uid

    def _token_life(self, order: Order) -> timedelta:
        pool = self._host.pool(order.pool)
        return USUAL_WAIT if pool is None else timedelta(seconds=pool.spec.readiness_wait.seconds)


def open_clients(host: ProviderHost) -> HetznerClients:
    """Create the clients for this process."""
    return HetznerClients(host)
