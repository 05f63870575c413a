"""Runs the process: its caches, and the loop while it leads."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry

from growth.api.hvpa import Hvpa
from growth.clocks import wall_clock
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.election import (
    ElectionMetrics,
    LeaseOnServer,
    Settings,
    lead,
    lead_repeatedly,
    this_run,
)
from growth.kube.events import EventMetrics, EventRecorder, EventsOnServer, EventSource
from growth.kube.reads import Reads
from growth.kube.transport import connect
from sizing.effects.hands import SizingHands
from sizing.loop import SizingLoop
from sizing.process.events import CONTROLLER, SizingEvents
from sizing.process.figures import SizingFigures
from sizing.process.port import SizingPort
from sizing.seeing.sources import HVPAS, SizingSources
from sizing.seeing.used import PodUseReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.kube.election import Leadership
    from growth.kube.transport import Connection
    from growth.service.context import Service
    from sizing.settings import SizingSettings

LEASE: Final = "growth-sizing"


async def size_workloads(service: Service[SizingSettings]) -> None:
    """Decide about sizes until cancelled."""
    settings = service.settings
    running: list[Sizer] = []
    service.health.require(
        "caches", lambda: running[0].lacking if running else "there is no connection yet"
    )
    namespace = await asyncio.to_thread(lambda: settings.namespace)
    connection = await connect(
        kubeconfig=settings.kubeconfig, context=settings.context, process=service.name
    )
    async with connection, asyncio.TaskGroup() as tasks:
        sizer = Sizer(service, connection, namespace)
        running.append(sizer)
        tasks.create_task(sizer.sources.run_all(), name="sources")
        await sizer.sources.complete()
        await sizer.lead_repeatedly()


class Sizer:
    """Everything that one process needs to act, and the loop."""

    def __init__(
        self, service: Service[SizingSettings], connection: Connection, namespace: str
    ) -> None:
        self._service = service
        self._connection = connection
        self._namespace = namespace
        self._loop: SizingLoop | None = None
        self._figures = SizingFigures(service.registry)
        # growth_leader is about reconcilers, of which alerts expect one.
        self._election = ElectionMetrics(CollectorRegistry())
        self._events = EventMetrics(service.registry)
        self.sources = SizingSources(
            connection,
            metrics=CacheMetrics(service.registry),
            chance=Random(),  # noqa: S311 - it spreads calls and protects nothing
            changed=self._wake,
        )

    @property
    def lacking(self) -> str | None:
        """Which caches aren't complete yet."""
        return ", ".join(self.sources.incomplete) or None

    async def lead_repeatedly(self) -> None:
        """Be a candidate, act while leading, and become a candidate again after a loss."""
        lease = LeaseOnServer(self._connection, namespace=self._namespace, name=LEASE)
        place = f"{self._connection.server} {self._namespace}/{LEASE}"
        with this_run(socket.gethostname(), lease=place) as who:
            leading = partial(lead, lease, who=who, settings=Settings(), metrics=self._election)
            await lead_repeatedly(leading, self._act)

    async def _act(self, leadership: Leadership) -> None:
        hands = SizingHands(
            self._connection, sources=self.sources, now=wall_clock, may_write=leadership.check
        )
        use = PodUseReader(
            reads=Reads(self._connection),
            wanted=lambda: bool(self.sources.objects(HVPAS)),
            now=wall_clock,
        )
        recorder = self._recorder()
        mode = self._service.settings.mode
        port = SizingPort(
            self.sources,
            use=use,
            hands=hands,
            figures=self._figures,
            events=SizingEvents(recorder.emit),
            mode=mode,
        )
        with self._looping(SizingLoop(port, now=wall_clock)) as loop:
            self._service.logger.info("sizing workloads", mode=mode.value)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(use.run(), name="use")
                tasks.create_task(recorder.run(), name="events")
                await loop.run()

    def _recorder(self) -> EventRecorder:
        source = EventSource(CONTROLLER, socket.gethostname())
        return EventRecorder(
            EventsOnServer(self._connection, source),
            concerns=lambda reference: reference.kind == Hvpa.__name__,
            metrics=self._events,
        )

    @contextlib.contextmanager
    def _looping(self, loop: SizingLoop) -> Iterator[SizingLoop]:
        self._loop = loop
        self._figures.leads(is_leader=True)
        try:
            yield loop
        finally:
            self._loop = None
            self._figures.leads(is_leader=False)

    def _wake(self) -> None:
        if self._loop is not None:
            self._loop.wake()
