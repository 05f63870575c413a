"""The manager's process in a simulation: what it sees, and the faults that its writes meet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fleet.clusters.deleting import may_be_deleted
from fleet.core.actions import CreateRecord, DeleteCluster
from fleet.core.world import FleetUnseen, FleetWorld
from fleet.serving.inbox import ReportInbox
from growth.errors import DecideAgain, RetryLater

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from random import Random

    from fleet.core.actions import FleetAction
    from fleet.core.clusters import FleetCluster, FleetRegion
    from fleet.simulation.server import FleetServer, StoredRecord


class ProcessDied(Exception):
    """The process ended in the middle of a pass."""


class SimulatedManager:
    """One process of the manager, from its start to its end."""

    def __init__(
        self,
        server: FleetServer,
        *,
        regions: Sequence[FleetRegion],
        chance: Random,
        now: Callable[[], datetime],
    ) -> None:
        self._server = server
        self._regions = tuple(regions)
        self._chance = chance
        self._now = now
        self._versions: dict[str, tuple[int, int]] = {}
        self.inbox = ReportInbox(now=now)
        self.faults = 0.0
        """How likely each write fails in one way or another."""
        self.is_blind = False
        self._frozen: FleetWorld | None = None

    def freeze(self) -> None:
        """Decide on the world of now, whenever the next pass is."""
        self._frozen = self.see()

    def see(self) -> FleetWorld:
        """What its caches show."""
        if self._frozen is not None:
            return self._frozen
        if self.is_blind:
            raise FleetUnseen("the API server doesn't answer")
        records = self._server.records
        self._versions = {name: self._version(name) for name in records}
        self.inbox.keep_only(records)
        return FleetWorld(
            regions=self._regions,
            clusters=tuple(self._counted(each) for _, each in sorted(records.items())),
            sights={name: real.sight() for name, real in self._server.real.items()},
            reports=self.inbox.taken(),
        )

    def _version(self, name: str) -> tuple[int, int]:
        real = self._server.real.get(name)
        return self._server.records[name].version, real.version if real else 0

    def _counted(self, stored: StoredRecord) -> FleetCluster:
        count = self.inbox.count_of(stored.record.name)
        return replace(stored.record, instances=count.instances, counted_at=count.at)

    async def do(self, action: FleetAction) -> None:
        """Carry out an action, unless a fault comes first."""
        fate = self._chance.random()
        if fate < self.faults / 3:
            raise RetryLater("refused")
        if isinstance(action, DeleteCluster):
            self._look_again(action.name)
        self._server.apply(action, versions=self._versions, now=self._now())
        # What a process has written itself, it knows.
        self._versions.update(dict([self._own(action)]))
        if fate < self.faults * 2 / 3:
            raise RetryLater("the answer was lost")
        if fate < self.faults:
            raise ProcessDied

    async def finish(self) -> None:
        """Nothing is told."""

    def _own(self, action: FleetAction) -> tuple[str, tuple[int, int]]:
        name = action.record.name if isinstance(action, CreateRecord) else action.name
        return name, self._version(name) if name in self._server.records else (0, 0)

    def _look_again(self, name: str) -> None:
        """Right before a deletion, read what can't be taken back by then."""
        fresh = [self._counted(each) for each in self._server.records.values()]
        own = next((each for each in fresh if each.name == name), None)
        if own is None or not may_be_deleted(own, fresh):
            raise DecideAgain("the cluster or its siblings have changed")
