"""Runs the extender: it opens its ports first, and then fills its caches.

Calls are answered from the start, because filter needs no cache to return its input. The process is
ready when its caches are complete and it has answered a few calls of its own.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

from extender.demand import DemandFeed
from extender.front.keeping import FrontKeeper
from extender.listening import demand_port, serve_port, verbs_port
from extender.sources import ExtenderSources, Followers
from extender.steering import Steering
from extender.verbs import VerbMetrics, Verbs
from extender.warming import warm
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.transport import connect
from growth.service.tls import Certificates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extender.settings import ExtenderSettings
    from growth.kube.cache.contents import Change
    from growth.scheduling.pod import Pod
    from growth.service.context import Service


async def serve(service: Service[ExtenderSettings]) -> None:
    """Answer the scheduler and the readers of the demand until cancelled."""
    work = ExtenderWork(service)
    service.health.require("ports", lambda: None if work.is_warm else "not all ports are open yet")
    service.health.require("caches", work.missing)
    await work.run()


class ExtenderWork:
    """The parts of the process."""

    def __init__(self, service: Service[ExtenderSettings]) -> None:
        self._service = service
        self._demand = DemandFeed()
        self._steering = Steering()
        self._sources: ExtenderSources | None = None
        self.is_warm = False

    def missing(self) -> str | None:
        """The kinds whose caches aren't complete yet."""
        if self._sources is None:
            return "not connected yet"
        incomplete = self._sources.incomplete
        return f"no complete list of {', '.join(incomplete)} yet" if incomplete else None

    async def run(self) -> None:
        """Open the ports, and keep the caches current."""
        port, endpoints = demand_port(self._service.settings), self._service.endpoints
        assert endpoints is not None  # noqa: S101 - tells mypy what every process has
        with port.open() as stream:
            front = FrontKeeper(self._service, self._demand, ports=(endpoints, stream))
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(front.keep(), name="front")
                await self._serve_verbs(demand_url=port.url(stream))

    async def _serve_verbs(self, *, demand_url: str) -> None:
        verbs = Verbs(
            feasible=self._demand.feasible,
            scores=self._steering.scores,
            opening=self._steering.opening,
            metrics=VerbMetrics(self._service.registry),
        )
        port, certificates = verbs_port(self._service.settings), Certificates(self._service)
        async with serve_port(
            port, verbs.application(), certificates, answers=verbs.answers
        ) as verbs_url:
            self._service.logger.info("listening", verbs=verbs_url, demand=demand_url)
            await warm(verbs_url)
            self.is_warm = True
            await self._follow()

    async def _follow(self) -> None:
        settings = self._service.settings
        connection = await connect(
            kubeconfig=settings.kubeconfig, context=settings.context, process=self._service.name
        )
        async with connection, asyncio.TaskGroup() as tasks:
            self._sources = ExtenderSources(
                connection,
                self._followers(),
                metrics=CacheMetrics(self._service.registry),
                chance=Random(),  # noqa: S311 - it spreads calls and protects nothing
            )
            tasks.create_task(self._sources.run(), name="sources")
            await self._sources.complete()
            self._demand.complete()
            self._service.logger.info("following", pods=len(self._demand.book.entries))

    def _followers(self) -> Followers:
        return Followers(
            pods=self._follow_pods,
            nodes=self._steering.follow_nodes,
            pools=self._demand.follow_pools,
            requests=self._steering.follow_requests,
            removals=self._steering.follow_removals,
        )

    def _follow_pods(self, changes: Sequence[Change[Pod]]) -> None:
        self._demand.follow_pods(changes)
        self._steering.follow_pods(changes)
