"""What the loop acts on in production: caches and hands."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import structlog

from fleet.core.states import ClusterState
from fleet.core.world import FleetUnseen, FleetWorld
from fleet.seeing.picture import picture_of
from fleet.seeing.sources import FLEETS, RECORDS
from growth.errors import GrowthError
from growth.kube.writes import Decided, Writes

if TYPE_CHECKING:
    from fleet.core.actions import FleetAction
    from fleet.effects.hands import Hands
    from fleet.process.figures import FleetFigures
    from fleet.seeing.sources import FleetSources
    from fleet.serving.inbox import ReportInbox
    from growth.api.clusterfleet import ClusterFleet
    from growth.api.clusterrecord import ClusterRecord

_log = structlog.get_logger(__name__)


class ManagerPort:
    """Sees by caches, and acts by hands."""

    def __init__(
        self,
        sources: FleetSources,
        *,
        inbox: ReportInbox,
        hands: Hands,
        fleets: Writes,
        figures: FleetFigures,
    ) -> None:
        self._sources = sources
        self._inbox = inbox
        self._hands = hands
        self._fleets = fleets
        self._figures = figures

    def see(self) -> FleetWorld:
        """The world of this moment."""
        reason = self._sources.why_not()
        if reason:
            raise FleetUnseen(reason)
        self._inbox.keep_only([each.name for each in self._sources.objects(RECORDS).values()])
        self._hands.begin()
        world = picture_of(self._sources, self._inbox, reports=self._inbox.taken())
        self._figures.show(world)
        return world

    async def do(self, action: FleetAction) -> None:
        """Carry out one action, and count it."""
        try:
            await self._hands.do(action)
        except GrowthError:
            self._figures.did(action, result="failed")
            raise
        self._figures.did(action, result="done")

    async def finish(self) -> None:
        """Write down in each fleet what its clusters are doing, if that has changed."""
        states: dict[str, Counter[ClusterState]] = {}
        for record in self._sources.objects(RECORDS).values():
            _count(record, states)
        for fleet in self._sources.objects(FLEETS).values():
            await self._tell(fleet, states.get(fleet.name, Counter()))

    async def _tell(self, fleet: ClusterFleet, states: Counter[ClusterState]) -> None:
        told = {
            "observedGeneration": fleet.metadata.generation,
            "clusters": states.total(),
            "ready": states[ClusterState.READY],
            "full": states[ClusterState.FULL],
            "failed": states[ClusterState.FAILED],
        }
        if fleet.status.document() == told:
            return
        try:
            await self._fleets.merge(Decided.on(fleet), {"status": told}, subresource="status")
        except GrowthError as error:
            _log.warning("could not write the status of a fleet", reason=str(error))


def _count(record: ClusterRecord, states: dict[str, Counter[ClusterState]]) -> None:
    if not record.status.soft_deleted:
        states.setdefault(record.spec.fleet, Counter())[record.status.state] += 1
