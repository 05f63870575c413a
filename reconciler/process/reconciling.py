"""Runs the reconciler: caches in each process, and the loop in the one that leads.

Each candidate keeps its caches current, so that a new leader can act at once. The loop and its
effects run only while we hold the Lease. If it is lost, they end, and the process becomes a
candidate again.
"""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from random import Random
from typing import TYPE_CHECKING
from uuid import uuid4

import certs
from growth.api.installed import RECONCILER_LEASE
from growth.api.wellknown import INSTALLATION_ANNOTATION, PUT_ASIDE_ANNOTATION
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.cache.timing import CacheTiming
from growth.kube.election import (
    ElectionMetrics,
    LeaseOnServer,
    lead,
    lead_repeatedly,
    this_run,
)
from growth.kube.reads import Reads
from growth.kube.transport import connect
from reconciler.aside.telling import in_one_line
from reconciler.brakes.rule import BrakesLedger
from reconciler.core.installation import continued, installation_from, installation_text
from reconciler.effects.announcing import announcing
from reconciler.effects.carrying_out import Effects
from reconciler.effects.lanes import Lanes
from reconciler.effects.stopping import Stopping
from reconciler.figures import Figures
from reconciler.figures.clouds import CloudMetrics
from reconciler.figures.pauses import PausedPools
from reconciler.ledger import Ledger
from reconciler.loop import Loop
from reconciler.process.production import Production
from reconciler.process.rivals import Rivals, StandBack
from reconciler.process.roster import Roster
from reconciler.process.speaking import recorder
from reconciler.removal.ledger import RemovalLedger
from reconciler.seeing.catalogues import Markets
from reconciler.seeing.clouds import Clouds
from reconciler.seeing.demand_place import DemandPlace, hear_demand
from reconciler.seeing.indexes import PODS
from reconciler.seeing.measured import UseReader, longest_window
from reconciler.seeing.moment import now
from reconciler.seeing.sources import ReconcilerSources
from reconciler.settings import CertificateKeeper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.kube.election import Leadership
    from growth.kube.transport import Connection
    from growth.service.context import Service
    from reconciler.brakes.pauses import Pause
    from reconciler.core.installation import Installation
    from reconciler.providers.port import ClassKey
    from reconciler.seeing.catalogues import NodeClassMarket
    from reconciler.settings import ReconcilerSettings


async def reconcile(service: Service[ReconcilerSettings]) -> None:
    """Keep the caches current, and act while this process leads, until cancelled."""
    service.health.require(
        "caches", lambda: "the caches are not complete yet" if not ready else None
    )
    ready: list[bool] = []
    settings = service.settings
    demand = DemandPlace(settings.demand_url, settings.demand_tls_folder)
    demand.check()
    connection = await connect(
        kubeconfig=settings.kubeconfig, context=settings.context, process=service.name
    )
    async with connection, asyncio.TaskGroup() as tasks:
        work = ReconcilerWork(service, connection)
        tasks.create_task(work.sources.run(), name="sources")
        tasks.create_task(work.recorder.run(), name="events")
        tasks.create_task(work.hear_demand(demand), name="demand stream")
        try:
            await work.lanes.warm_up()
            await work.sources.complete()
            # Before this process can lead: a library that is loaded while it takes over holds up
            # the event loop, and on a busy machine the Lease was lost within that second.
            await work.roster.warm_up()
            ready.append(True)
            await work.lead_repeatedly()
        finally:
            await work.lanes.close()
            await work.roster.close()


class ReconcilerWork:
    """Everything that one process needs to act, and the loop."""

    def __init__(self, service: Service[ReconcilerSettings], connection: Connection) -> None:
        self._service = service
        self._connection = connection
        self._timing = service.settings.timing
        self._loop: Loop | None = None
        self._clouds: Clouds | None = None
        self._markets: Markets | None = None
        self.lanes = Lanes()
        self._installation: Installation | None = None
        """Known while this process leads."""
        self._chance = Random()  # noqa: S311 - it spreads calls and protects nothing
        self._certs_metrics = certs.CertsMetrics(service.registry)
        self.sources = ReconcilerSources(
            connection,
            namespace=service.settings.namespace,
            metrics=CacheMetrics(service.registry),
            chance=self._chance,
            changed=self._wake,
            timing=CacheTiming(stable_interval=self._timing.stable_interval),
        )
        self.roster = Roster(
            connection,
            sources=self.sources,
            settings=service.settings,
            registry=service.registry,
            doubted=self._doubt,
            installation=lambda: "" if self._installation is None else self._installation.id,
        )
        self.recorder = recorder(connection, self.sources, registry=service.registry)
        self._stopping = Stopping(service.registry, say=self.recorder.emit)
        self._rivals = Rivals(
            connection, namespace=service.settings.namespace, registry=service.registry
        )
        self._figures = Figures(
            service.registry,
            pod_of=lambda namespace, name: self.sources.store(PODS).get(name, namespace=namespace),
            now=now,
        )
        PausedPools(service.registry, self._pauses)
        CloudMetrics(
            service.registry,
            sights=lambda: self._clouds.sights if self._clouds is not None else {},
            markets=lambda: self._markets.known if self._markets is not None else {},
            now=now,
        )

    async def hear_demand(self, place: DemandPlace) -> None:
        """Read the extender's demand stream, if its URL is set."""
        await hear_demand(place, self._service, self.sources.demand, changed=self._wake)

    async def lead_repeatedly(self) -> None:
        """Be a candidate, act while leading, and become a candidate again after a loss."""
        namespace = self._service.settings.namespace
        lease = LeaseOnServer(
            self._connection,
            namespace=namespace,
            name=RECONCILER_LEASE,
            annotations=self._annotations,
        )
        metrics = ElectionMetrics(self._service.registry)
        settings = self._service.settings.election
        # With the server: on one machine, processes for two clusters are different candidates.
        place = f"{self._connection.server} {namespace}/{RECONCILER_LEASE}"
        with this_run(socket.gethostname(), lease=place) as who:
            leading = partial(lead, lease, who=who, settings=settings, metrics=metrics)
            await lead_repeatedly(leading, self._act)

    async def _act(self, leadership: Leadership) -> None:
        lease = f"{self._service.settings.namespace}/{RECONCILER_LEASE}"
        self._service.logger.info("leading", lease=lease)
        # Before anything is decided: two growths with Leases in two namespaces delete each other's
        # machines.
        await self._rivals.stand_back()
        self._installation = installation = self._continued(leadership)
        try:
            await self._act_alone(leadership, installation)
        except* StandBack:
            self._service.logger.warning("an older growth acts in this cluster; this one waits")
        finally:
            # Or the next time, it would overwrite what another leader has kept since.
            self._installation = None

    def _continued(self, leadership: Leadership) -> Installation:
        # It is kept with the next renewal of the Lease, seconds before anything may be bought.
        kept = installation_from(leadership.annotations.get(INSTALLATION_ANNOTATION))
        return continued(kept, now(), vacant_for=leadership.vacant_for, drawn=str(uuid4()))

    async def _act_alone(self, leadership: Leadership, installation: Installation) -> None:
        with announcing() as announce:
            async with asyncio.TaskGroup() as tasks:
                effects = Effects(
                    connection=self._connection,
                    sources=self.sources,
                    provider_of=self.roster.provider_of,
                    leadership=leadership,
                    now=now,
                    ended=self._wake,
                    tasks=tasks,
                    chance=self._chance,
                    may_write=self._stopping.check,
                    say=self.recorder.emit,
                    announce=self._figures.also(announce),
                    plan=self.lanes.answer,
                )
                tasks.create_task(self._keep_certificates(leadership), name="certificates")
                tasks.create_task(self._rivals.watch(), name="rivals")
                self._clouds = clouds = Clouds(
                    node_classes=lambda: self.sources.views.node_classes,
                    provider_of=self.roster.provider_of,
                    is_busy=lambda: self.sources.views.is_anything_moving,
                    now=now,
                    changed=self._wake,
                    timing=self._timing,
                )
                self._markets = markets = Markets(
                    node_classes=lambda: self.sources.views.node_classes,
                    provider_of=self.roster.provider_of,
                    generation_of=self.sources.views.generation_of,
                    learnt=self._learn,
                )
                use = UseReader(
                    reads=Reads(self._connection),
                    nodes=lambda: self.sources.views.cluster().nodes,
                    window=lambda: longest_window(self.sources.views.pools),
                    now=now,
                    changed=self._wake,
                )
                tasks.create_task(use.run(), name="measured use")
                tasks.create_task(clouds.run(), name="clouds")
                tasks.create_task(markets.run(), name="markets")
                await markets.first_answers()
                await self._loop_over(
                    effects,
                    clouds,
                    use,
                    unseen=leadership.vacant_for,
                    installation=installation,
                )

    async def _keep_certificates(self, leadership: Leadership) -> None:
        settings = self._service.settings
        if settings.certificates is CertificateKeeper.MANAGED:
            await certs.keep_certificates(
                self._connection,
                namespace=settings.namespace,
                metrics=self._certs_metrics,
                may_write=leadership.check,
            )

    async def _loop_over(
        self,
        effects: Effects,
        clouds: Clouds,
        use: UseReader,
        *,
        unseen: float,
        installation: Installation,
    ) -> None:
        scene = Production(
            sources=self.sources,
            clouds=clouds,
            use=use,
            effects=effects,
            settings=self._service.settings,
            seen=self._figures.show,
            stopped=self._stopping.stop,
            installation=installation,
        )
        # A breach stays in force if the same process leads again, as no person has checked it yet.
        brakes = BrakesLedger(breach=self._stopping.breach)
        ledger = Ledger(brakes=brakes, removal=RemovalLedger(unseen=unseen))
        self._loop = Loop(scene, ledger=ledger, timed=self._figures.passes.time)
        try:
            await self._loop.run(coalesce=self._timing.coalesce)
        finally:
            self._loop = self._clouds = self._markets = None
            self._figures.forget()

    def _annotations(self) -> Mapping[str, str | None]:
        aside = "" if self._loop is None else in_one_line(self._loop.ledger.aside)
        known = self._installation
        kept = {} if known is None else {INSTALLATION_ANNOTATION: installation_text(known)}
        return {**self._stopping.annotations(), PUT_ASIDE_ANNOTATION: aside or None, **kept}

    def _pauses(self) -> Mapping[str, Pause]:
        return {} if self._loop is None else self._loop.ledger.brakes.pauses

    def _wake(self) -> None:
        if self._loop is not None:
            self._loop.wake()
        if self._clouds is not None:
            self._clouds.notice()
        if self._markets is not None:
            self._markets.notice()

    def _learn(self, key: ClassKey, market: NodeClassMarket) -> None:
        self.sources.views.learn(key, market)
        self._wake()

    def _doubt(self) -> None:
        if self._markets is not None:
            self._markets.doubt()
