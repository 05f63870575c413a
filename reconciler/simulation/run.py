"""One run: a world is put together from a story, lives through it, and is judged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.providers.kwok.catalogue import offerings
from reconciler.simulation import catalogue
from reconciler.simulation.auditor import Auditor, Breach
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import Cloud
from reconciler.simulation.controllers import Controllers
from reconciler.simulation.lives import Lives
from reconciler.simulation.possible import Possible
from reconciler.simulation.process import TIMING, Parts
from reconciler.simulation.scheduler import Scheduler
from reconciler.simulation.story import Story
from reconciler.simulation.surroundings import surroundings
from reconciler.simulation.trace import LAST_LINES
from reconciler.simulation.trouble import Trouble
from reconciler.simulation.workload import Workloads

if TYPE_CHECKING:
    from reconciler.providers.port import Offering

SETTLED: Final = 300.0
"""Seconds before the end from which on nothing is bought any more."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a story."""

    story: Story
    breaches: tuple[Breach, ...]
    """The first one, if there is any."""
    events: int
    hash: str
    lines: tuple[str, ...]
    effects: int
    """How many were announced."""
    points: tuple[str, ...]
    """Where our process could have ended: the names of all announcements."""
    bought: int
    lost: int
    """Machines that died."""
    retired: int
    """Machines that a person gave back."""
    waited: int
    """Pods that waited for a node."""
    twice: int
    """Machines asked for though their pod had one coming or just come."""
    machines: tuple[tuple[str, str, str], ...]
    """Pool, type and place of each machine in the end, sorted."""
    bound: tuple[str, ...]
    """Names of the pods that are bound in the end, sorted; without those of DaemonSets."""
    seconds: float
    """Of one processor, which is what a run takes where nobody else uses it."""

    @property
    def seconds_per_second(self) -> float:
        """Virtual seconds in a real one."""
        return self.story.end / self.seconds


def run(story: Story, *, parts: Parts | None = None, keep: int | None = LAST_LINES) -> Outcome:
    """A run by itself."""
    return Simulation(story, parts or Parts(), keep=keep).run()


class Simulation:
    """The world of one story."""

    def __init__(self, story: Story, parts: Parts, *, keep: int | None) -> None:
        self._story = story
        self._around = around = surroundings(story, keep=keep)
        self._timeline = around.timeline
        self._cloud = cloud = Cloud(around)
        scheduler = Scheduler(around)
        offers = self._furnish()
        possible = Possible(around, scheduler, offers)
        self._auditor = Auditor(around, cloud, possible=possible, timing=TIMING)
        self._lives = Lives(around, cloud, parts=parts, auditor=self._auditor)
        Trouble(
            around,
            cloud,
            offerings=offers,
            leader=lambda: self._lives.leader,
            replace=self._lives.begin,
        )

    def run(self) -> Outcome:
        """From the first second to the verdict."""
        began = time.process_time()
        self._lives.begin()
        self._timeline.run(self._story.end - SETTLED)
        settled = self._cloud.bought
        self._timeline.run(self._story.end)
        if self._auditor.found is None and self._cloud.bought != settled:
            self._auditor.breach("all settles", "machines are still bought at the end of the quiet")
        if self._auditor.found is None:
            self._auditor.judge()
        return self._outcome(time.process_time() - began)

    def _furnish(self) -> tuple[Offering, ...]:
        """Everything that is there before the first pod."""
        server = self._around.server
        node_class = catalogue.node_class()
        server.create("KwokNodeClass", node_class)
        for pool in catalogue.pools(Chance(self._story.seed, "pools")):
            server.create("NodePool", pool)
        Controllers(self._around, self._cloud)
        Workloads(self._around)
        return offerings(node_class)

    def _outcome(self, seconds: float) -> Outcome:
        orders = [machine.order for machine in self._cloud.machines.values()]
        pods = self._around.server.kind("pods").objects.values()
        return Outcome(
            story=self._story,
            breaches=() if self._auditor.found is None else (self._auditor.found,),
            events=self._timeline.events,
            hash=self._around.trace.hash,
            lines=tuple(self._around.trace.lines),
            effects=self._lives.effects,
            points=tuple(self._lives.points),
            bought=self._cloud.bought,
            lost=self._cloud.lost,
            retired=self._cloud.retired,
            waited=self._auditor.waited,
            twice=self._auditor.twice,
            machines=tuple(
                sorted((each.pool, each.server_type.canonical, each.location) for each in orders)
            ),
            bound=tuple(
                sorted(
                    each.name for each in pods if each.spec.node_name and not each.is_of_daemon_set
                )
            ),
            seconds=seconds,
        )
