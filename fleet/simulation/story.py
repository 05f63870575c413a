"""One story: days of load and faults, then a quiet time, then the auditor's verdict."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Final

from fleet.core.clusters import FleetRegion, RegionKey
from fleet.core.states import REPORTING, ClusterState
from fleet.core.world import FleetUnseen
from fleet.loop import FleetLoop
from fleet.simulation.auditor import FleetAuditor
from fleet.simulation.clusters import ONE
from fleet.simulation.process import ProcessDied, SimulatedManager
from fleet.simulation.server import FleetServer

if TYPE_CHECKING:
    from fleet.core.report import AgentReport
    from fleet.simulation.clusters import RealCluster

TICK: Final = timedelta(minutes=1)
BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)
RIVALS: Final = 0.05
"""How likely two processes act in a bad minute."""
LOST_REPORTS: Final = 0.2
"""How many reports don't arrive in bad minutes."""
QUIET_TICKS: Final = 12 * 60
"""Half a day without faults and new load, in which everything must come to rest."""


@dataclass(frozen=True)
class FleetStory:
    """What has happened."""

    seed: int
    breaches: tuple[str, ...]
    created: int
    deleted: int
    steps: int
    restarts: int
    served: int
    most_clusters: int

    @property
    def text(self) -> str:
        """One line for people."""
        return (
            f"seed {self.seed}: {len(self.breaches)} breaches; {self.created} clusters came and "
            f"{self.deleted} went, at most {self.most_clusters} at once; {self.steps} steps of "
            f"nodes; {self.restarts} restarts; {self.served} instances served"
        )


class FleetTale:
    """Tells one story."""

    def __init__(self, seed: int, *, days: float, regions: int = 3) -> None:
        self._seed = seed
        self._chance = Random(seed)  # noqa: S311 - a story, not a secret
        self._ticks = int(timedelta(days=days) / TICK)
        self._now = BEGINNING
        self._regions = tuple(
            FleetRegion(
                key=RegionKey(f"provider-{n % 2}", f"region-{n}"),
                model_t=ONE,
                provisioning_deadline=timedelta(hours=1),
            )
            for n in range(regions)
        )
        self._auditor = FleetAuditor()
        self._server = FleetServer(self._chance, self._auditor)
        self._manager = self._new_manager()
        self._waiting: Counter[str] = Counter()
        self._load = {each.key.region: 0.0 for each in self._regions}
        self._counts: Counter[str] = Counter()
        self._ready: set[str] = set()
        """Clusters that were ready a minute ago."""

    def told(self) -> FleetStory:
        """Play the whole story."""
        asyncio.run(self._play())
        records = {name: each.record for name, each in self._server.records.items()}
        self._auditor.ends(records, self._server.real, waiting=self._waiting)
        return FleetStory(
            seed=self._seed,
            breaches=tuple(self._auditor.breaches),
            created=self._counts["created"],
            deleted=self._counts["deleted"],
            steps=self._counts["steps"],
            restarts=self._counts["restarts"],
            served=self._counts["served"],
            most_clusters=self._counts["most"],
        )

    async def _play(self) -> None:
        for tick in range(self._ticks):
            if tick % 360 == 0:
                self._draw_times()
            self._trouble()
            self._arrivals()
            await self._tick()
        self._calm_down()
        for _ in range(QUIET_TICKS):
            await self._tick()

    async def _tick(self) -> None:
        self._now += TICK
        before = set(self._server.real)
        self._server.tick()
        self._counts["deleted"] += len(before - set(self._server.real))
        self._place()
        self._report()
        rival = self._rival()
        await self._pass(self._manager)
        if rival is not None:
            await self._pass(rival)
        self._counts["created"] += len(set(self._server.real) - before)
        self._counts["most"] = max(self._counts["most"], len(self._server.real))

    def _rival(self) -> SimulatedManager | None:
        """An old leader that doesn't know yet that it isn't one: it decides on an older world."""
        if not self._manager.faults or self._chance.random() >= RIVALS:
            return None
        rival = self._new_manager()
        rival.inbox = self._manager.inbox.copied()
        rival.freeze()
        return rival

    async def _pass(self, manager: SimulatedManager) -> None:
        wanted = {name: real.wanted for name, real in self._server.real.items()}
        try:
            await FleetLoop(manager, now=lambda: self._now).pass_once()
        except FleetUnseen:
            pass
        except ExceptionGroup as group:
            _, others = group.split(ProcessDied)
            if others is not None:
                raise others from None
            self._restart(manager)
        after = self._server.real
        self._counts["steps"] += sum(
            name in after and after[name].wanted != nodes for name, nodes in wanted.items()
        )

    def _restart(self, manager: SimulatedManager) -> None:
        """All that a process remembers is lost."""
        if manager is not self._manager:
            return
        self._counts["restarts"] += 1
        faults = self._manager.faults
        self._manager = self._new_manager()
        self._manager.faults = faults

    def _new_manager(self) -> SimulatedManager:
        return SimulatedManager(
            self._server, regions=self._regions, chance=self._chance, now=lambda: self._now
        )

    def _draw_times(self) -> None:
        """Good times and bad times, for some hours."""
        self._manager.faults = self._chance.choice([0.0, 0.0, 0.02, 0.3])
        self._load = {
            region: self._chance.choice([0.0, 0.1, 0.3, -0.1, -0.3]) for region in self._load
        }
        self._server.fails_always = {each for each in self._load if self._chance.random() < 0.05}

    def _trouble(self) -> None:
        if self._chance.random() < 0.002:
            self._manager.is_blind = not self._manager.is_blind
        for real in self._server.real.values():
            fate = self._chance.random()
            if fate < 0.0005:
                real.agent_silent = self._chance.randint(5, 300)
            elif fate < 0.001:
                real.nodes_stand_still = self._chance.randint(5, 200)
        if self._chance.random() < 0.0003:
            self._delete_by_hand()

    def _delete_by_hand(self) -> None:
        failed = [
            name
            for name, each in sorted(self._server.records.items())
            if each.record.state is ClusterState.FAILED
        ]
        for name in failed[:1]:
            self._server.delete_by_hand(name)

    def _arrivals(self) -> None:
        for region, load in self._load.items():
            if load > 0 and self._chance.random() < load:
                self._waiting[region] += 1
            if load < 0 and self._chance.random() < -load:
                self._departure(region)

    def _departure(self, region: str) -> None:
        used = [each for each in self._of(region) if each.instances]
        if used:
            self._chance.choice(used).instances -= 1

    def _place(self) -> None:
        """New instances go where records say that there is room, or said so a minute ago."""
        now_ready = {
            name
            for name, each in self._server.records.items()
            if each.record.state is ClusterState.READY and not each.record.is_leaving
        }
        for region in self._load:
            for real in self._of(region):
                if real.name in now_ready | self._ready and not real.is_deleting:
                    fitting = min(real.room, self._waiting[region])
                    real.instances += fitting
                    self._waiting[region] -= fitting
                    self._counts["served"] += fitting
        self._ready = now_ready

    def _of(self, region: str) -> list[RealCluster]:
        return [
            real
            for name, real in sorted(self._server.real.items())
            if name in self._server.records
            and self._server.records[name].record.key.region == region
        ]

    def _report(self) -> None:
        """Agents report; now and then an old report comes instead of the newest one."""
        for real in self._server.real.values():
            if not real.is_equipped or real.is_deleting or real.agent_silent:
                continue
            if self._manager.faults and self._chance.random() < LOST_REPORTS:
                continue
            report = real.report(self._now)
            real.old_reports = [*real.old_reports[-4:], report]
            if self._manager.faults and self._chance.random() < 0.05:
                report = self._chance.choice(real.old_reports)
            self._send(real.name, report)

    def _send(self, name: str, report: AgentReport) -> None:
        stored = self._server.records.get(name)
        if stored is None or stored.record.is_soft_deleted:
            return
        counts = stored.record.state in REPORTING
        inbox = self._manager.inbox
        (inbox.put if counts else inbox.count)(name, report)

    def _calm_down(self) -> None:
        self._manager.faults = 0.0
        self._manager.is_blind = False
        self._server.fails_always = set()
        for real in self._server.real.values():
            real.agent_silent = real.nodes_stand_still = 0
