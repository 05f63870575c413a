"""Runs the manager: its caches, and reports and the loop in the process that leads.

Reports are taken by the leader alone, because they wait in its memory for the next pass. The others
aren't ready, so that a Service sends agents to the leader.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry

from fleet.effects.hands import Hands
from fleet.loop import FleetLoop
from fleet.process.figures import FleetFigures
from fleet.process.port import ManagerPort
from fleet.reports.configuration import AgentConfiguration
from fleet.seeing.picture import member_of
from fleet.seeing.sources import FLEETS, RECORDS, FleetSources
from fleet.serving.accounts import ISSUER, AgentAccounts
from fleet.serving.bearers import Bearers
from fleet.serving.desk import ReportDesk
from fleet.serving.door import ReportDoor, open_report_door
from fleet.serving.inbox import ReportInbox
from fleet.serving.metrics import ReportMetrics
from fleet.serving.signed import SignedBearers, keys_in
from growth.api.clusterfleet import ClusterFleet
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
from growth.kube.transport import connect
from growth.kube.writes import Writes
from growth.service.connections import ConnectionLimits
from growth.service.tls import Certificates, Files
from growth.service.web_server import listen, place_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator
    from pathlib import Path

    from fleet.core.clusters import FleetCluster
    from fleet.serving.bearers import BearerReader
    from fleet.settings import FleetSettings
    from growth.kube.election import Leadership
    from growth.kube.transport import Connection
    from growth.service.context import Service

LEASE: Final = "growth-fleet"
LIMITS: Final = ConnectionLimits(total=2048, each=512)
"""One connection for each agent, of which many may come through one address."""


async def manage(service: Service[FleetSettings]) -> None:
    """Manage fleets until cancelled."""
    settings = service.settings
    leading: list[bool] = []
    service.health.require(
        "leadership", lambda: None if leading else "another process leads, or none does yet"
    )
    namespace = await asyncio.to_thread(lambda: settings.namespace)
    readers = await asyncio.to_thread(_signed, settings.agent_keys)
    async with Certificates(service).serving(
        "reports", Files.pair(settings.report_tls_folder)
    ) as tls:
        connection = await connect(
            kubeconfig=settings.kubeconfig, context=settings.context, process=service.name
        )
        async with connection, asyncio.TaskGroup() as tasks:
            manager = FleetManager(service, connection, namespace, readers, tls, leading)
            tasks.create_task(manager.sources.run(), name="sources")
            await manager.sources.complete()
            await manager.lead_repeatedly()


def _signed(file: Path | None) -> tuple[BearerReader, ...]:
    if file is None:
        return ()
    keys = keys_in(file.read_text("utf-8"))
    return (SignedBearers(lambda: keys, now=wall_clock),)


class FleetManager:
    """Everything that one process needs to act, and the loop."""

    def __init__(
        self,
        service: Service[FleetSettings],
        connection: Connection,
        namespace: str,
        readers: tuple[BearerReader, ...],
        tls: ssl.SSLContext,
        leading: list[bool],
    ) -> None:
        self._service = service
        self._connection = connection
        self._namespace = namespace
        self._tls = tls
        self._leading = leading
        self._readers = (AgentAccounts(connection, namespace=namespace), *readers)
        self._loop: FleetLoop | None = None
        self._metrics = ReportMetrics(service.registry)
        self._figures = FleetFigures(service.registry)
        # growth_leader is about reconcilers, of which alerts expect one.
        self._election = ElectionMetrics(CollectorRegistry())
        self.sources = FleetSources(
            connection,
            namespace=namespace,
            metrics=CacheMetrics(service.registry),
            chance=Random(),  # noqa: S311 - it spreads calls and protects nothing
            changed=self._wake,
        )

    async def lead_repeatedly(self) -> None:
        """Be a candidate, act while leading, and become a candidate again after a loss."""
        lease = LeaseOnServer(self._connection, namespace=self._namespace, name=LEASE)
        place = f"{self._connection.server} {self._namespace}/{LEASE}"
        with this_run(socket.gethostname(), lease=place) as who:
            leading = partial(lead, lease, who=who, settings=Settings(), metrics=self._election)
            await lead_repeatedly(leading, self._act)

    async def _act(self, leadership: Leadership) -> None:
        inbox = ReportInbox(on_report=self._wake)
        hands = Hands(
            self._connection,
            sources=self.sources,
            inbox=inbox,
            namespace=self._namespace,
            now=wall_clock,
            may_write=leadership.check,
        )
        own = self.sources.store(FLEETS).own
        fleets = Writes(self._connection, path=ClusterFleet.collection(), noted=own)
        port = ManagerPort(
            self.sources, inbox=inbox, hands=hands, fleets=fleets, figures=self._figures
        )
        self._loop = FleetLoop(port, now=wall_clock)
        settings = self._service.settings
        with (
            self._marked(),
            listen(settings.report_address, setting="--report-address", limits=LIMITS) as listening,
        ):
            async with open_report_door(self._door(inbox), listening, tls=self._tls):
                self._service.logger.info("managing", report_address=place_of(listening))
                await self._loop.run()

    @contextlib.contextmanager
    def _marked(self) -> Iterator[None]:
        self._leading.append(True)
        self._figures.leads(is_leader=True)
        try:
            yield
        finally:
            self._leading.clear()
            self._figures.leads(is_leader=False)
            self._loop = None

    def _door(self, inbox: ReportInbox) -> ReportDoor:
        desk = ReportDesk(
            lambda: self._known(inbox),
            inbox=inbox,
            configuration=AgentConfiguration(),
            issuers={ISSUER, self._service.settings.agent_issuer} - {""},
        )
        return ReportDoor(desk, bearers=Bearers(*self._readers), metrics=self._metrics)

    def _known(self, inbox: ReportInbox) -> dict[str, FleetCluster] | None:
        if self.sources.incomplete:
            return None
        records = self.sources.objects(RECORDS).values()
        return {each.name: member_of(each, inbox) for each in records}

    def _wake(self) -> None:
        if self._loop is not None:
            self._loop.wake()
