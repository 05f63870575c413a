"""One run: a world is put together from a story, lives through it, and is judged."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.disruption import Consolidation
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import REPLACES_ANNOTATION
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.simulation import catalogue
from reconciler.simulation.auditor import AuditBreach
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.story import Story
from reconciler.simulation.trace import LAST_LINES
from reconciler.simulation.trouble import SimulatedTrouble
from reconciler.simulation.workload import Workloads

if TYPE_CHECKING:
    from reconciler.simulation.server import StoredChange

SEARCHES_EVERY: Final = 60.0
"""Seconds between two searches for cheaper nodes: they are most of what a run costs."""
CHAIN: Final = 3600.0
"""Seconds after the quiet in which the last chain of moves ends."""
SETTLED: Final = 300.0
"""Seconds before the end from which on nothing is bought any more for pods that wait."""


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a story."""

    story: Story
    breaches: tuple[AuditBreach, ...]
    """The first one, if there is any."""
    events: int
    hash: str
    lines: tuple[str, ...]
    effects: int
    """How many were announced."""
    points: tuple[str, ...]
    """Where our process could have ended: the names of all announcements."""
    bought: int
    paid: float
    """Seconds of machines, all of them together."""
    lost: int
    """Machines that died."""
    retired: int
    """Machines that were given back."""
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


def run_story(
    story: Story, *, parts: Parts | None = None, keep: int | None = LAST_LINES
) -> RunOutcome:
    """A run by itself."""
    return Simulation(story, parts or Parts(), keep=keep).run()


def found_until(moment: float, story: Story) -> AuditBreach | None:
    """What is breached up to a moment; how it all ends isn't waited for."""
    return Simulation(story, Parts(), keep=LAST_LINES).found_until(moment)


def _consolidation(story: Story) -> Consolidation:
    """As with kinds of faults, every second seed is without: it hides what idle nodes show."""
    consolidates = Chance(story.seed, "consolidation").happens(0.5)
    return Consolidation.WHEN_CHEAPER if consolidates else Consolidation.NEVER


class Simulation:
    """The world of one seed."""

    def __init__(self, story: Story, parts: Parts, *, keep: int | None) -> None:
        chance = Chance(story.seed, "cloud")
        node_class = catalogue.node_class(catalogue.boot_delay(chance))
        joining = (
            SimulatedJoining.AT_ONCE if chance.happens(0.5) else SimulatedJoining.WHILE_BOOTING
        )
        timing = msgspec.structs.replace(parts.timing, searches_every=SEARCHES_EVERY)
        parts = dataclasses.replace(parts, timing=timing)
        self._story = story
        self._living = living = Living(story, joining, parts=parts, keep=keep)
        living.server.create("KwokNodeClass", node_class)
        for pool in catalogue.pools(Chance(story.seed, "pools"), _consolidation(story)):
            living.server.create("NodePool", pool)
        Workloads(living)
        SimulatedTrouble(living, offerings=kwok_offerings(node_class))
        self._asked_for = 0
        living.server.kind(NodeRequest.__name__).heard_by.append(self._request_changed)

    def _request_changed(self, event: StoredChange) -> None:
        """Pods end in the quiet, too, and those that are left may be moved together."""
        if event.old is None and REPLACES_ANNOTATION not in event.new.metadata.annotations:
            self._asked_for += 1

    def found_until(self, moment: float) -> AuditBreach | None:
        """From the first second to a moment."""
        self._living.lives.begin()
        self._living.timeline.run(moment)
        return self._living.auditor.found

    def run(self) -> RunOutcome:
        """From the first second to the verdict."""
        began = time.process_time()
        living = self._living
        living.lives.begin()
        living.timeline.run(self._story.end - SETTLED)
        if not self._settles() and living.auditor.found is None:
            living.auditor.breach("all settles", "machines are bought without an end")
        if living.auditor.found is None:
            living.auditor.judge()
        return self._outcome(time.process_time() - began)

    def _settles(self) -> bool:
        """Whether nothing more is bought for a while.

        Moves to cheaper nodes follow from one another, and a pod that the scheduler puts elsewhere
        than planned may need a machine of its own. Such a chain may be under way at the end of the
        quiet, as a person may have held the nodes until then; but it comes to an end.
        """
        moment = self._story.end
        while moment <= self._story.end + CHAIN:
            before = self._asked_for
            self._living.timeline.run(moment)
            if self._asked_for == before:
                return True
            moment += SETTLED
        return False

    def _outcome(self, seconds: float) -> RunOutcome:
        around, cloud = self._living.around, self._living.cloud
        auditor, lives = self._living.auditor, self._living.lives
        orders = [machine.order for machine in cloud.machines.values()]
        pods = around.server.kind("pods").objects.values()
        return RunOutcome(
            story=self._story,
            breaches=() if auditor.found is None else (auditor.found,),
            events=around.timeline.events,
            hash=around.trace.hash,
            lines=tuple(around.trace.lines),
            effects=lives.effects,
            points=tuple(lives.points),
            bought=cloud.bought,
            paid=cloud.paid,
            lost=cloud.lost,
            retired=cloud.retired,
            waited=auditor.waited,
            twice=auditor.twice,
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
