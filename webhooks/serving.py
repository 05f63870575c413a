"""Runs the webhooks: a cache of the NodePools, and the port that answers reviews from it.

The process is ready when it can answer reviews correctly: its certificate is valid, and all pools
have been read once. From then on, answers come from memory only; while the API server is down, the
last known pools are used.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from growth.kube.cache.metrics import CacheMetrics
from growth.kube.transport import connect
from growth.service.connections import ConnectionLimits
from growth.service.tls import Certificates, Files
from growth.service.web_server import listen, place_of
from webhooks.desk import Desk
from webhooks.door import AdmissionDoor, open_door
from webhooks.metrics import AdmissionMetrics
from webhooks.sources import PoolCache

if TYPE_CHECKING:
    from growth.service.context import Service
    from webhooks.settings import WebhooksSettings


LIMITS: Final = ConnectionLimits(total=1024, each=512)
"""An API server sends at most 200 changes of objects at the same time, each on its connection."""


async def admit(service: Service[WebhooksSettings]) -> None:
    """Answer reviews until cancelled."""
    settings = service.settings
    pools = PoolCache()
    service.health.require(
        "node pools", lambda: "the cache is not complete yet" if pools.now() is None else None
    )
    address = settings.webhook_address
    with listen(address, setting="--webhook-address", limits=LIMITS) as listening:
        async with (
            Certificates(service).serving(
                "the webhook", Files.pair(settings.webhook_tls_folder)
            ) as tls,
            open_door(await _door(service, pools), listening, tls=tls),
        ):
            service.logger.info("admitting", webhook_address=place_of(listening))
            await _follow(service, pools)


async def _door(service: Service[WebhooksSettings], pools: PoolCache) -> AdmissionDoor:
    metrics = AdmissionMetrics(service.registry)
    # It is read from a file.
    namespace = await asyncio.to_thread(lambda: service.settings.own_namespace)
    return AdmissionDoor(Desk(pools.now, own_namespace=namespace, metrics=metrics), metrics=metrics)


async def _follow(service: Service[WebhooksSettings], pools: PoolCache) -> None:
    settings = service.settings
    connection = await connect(
        kubeconfig=settings.kubeconfig, context=settings.context, process=service.name
    )
    async with connection:
        await pools.follow(connection, metrics=CacheMetrics(service.registry))
