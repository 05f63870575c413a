"""A run: it builds a cluster from a story, simulates it, and audits the result."""

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
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.progress import has_begun_within
from reconciler.simulation.story import Story
from reconciler.simulation.trace import LAST_LINES
from reconciler.simulation.trouble import SimulatedTrouble
from reconciler.simulation.workload import Workloads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.kwoknodeclass import KwokNodeClass
    from reconciler.simulation.server import StoredChange

SEARCHES_EVERY: Final = 60.0
"""Seconds between two searches for cheaper nodes, which take most of the time of a run."""
CHAIN: Final = 3600.0
"""Seconds after the quiet time within which the last chain of moves must end."""
SETTLED: Final = 300.0
"""Seconds without a purchase after which a run counts as settled."""


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a story."""

    story: Story
    breaches: tuple[AuditBreach, ...]
    """The first breach, if there is one."""
    events: int
    hash: str
    lines: tuple[str, ...]
    effects: int
    """The number of announced effects."""
    points: tuple[str, ...]
    """The names of all points at which our process could have ended."""
    bought: int
    paid: float
    """The total seconds of all machines."""
    lost: int
    """Machines that died."""
    retired: int
    """Machines that were given back."""
    waited: int
    """Pods that waited for a node."""
    twice: int
    """Machines that were requested although their pod already had one coming or just joined."""
    machines: tuple[tuple[str, str, str], ...]
    """The pool, type and location of each machine at the end, sorted."""
    bound: tuple[str, ...]
    """The names of the bound pods at the end, sorted, without those of DaemonSets."""
    seconds: float
    """The CPU time of the run."""

    @property
    def seconds_per_second(self) -> float:
        """Virtual seconds per second of CPU time."""
        return self.story.end / self.seconds


def run_story(
    story: Story, *, parts: Parts | None = None, keep: int | None = LAST_LINES
) -> RunOutcome:
    """Run a story."""
    return Simulation(story, parts or Parts(), keep=keep).run()


def found_until(moment: float, story: Story) -> AuditBreach | None:
    """The breach up to a moment, without running to the end."""
    return Simulation(story, Parts(), keep=LAST_LINES).found_until(moment)


def _consolidation(story: Story) -> Consolidation:
    """Whether the seed consolidates; half of them don't, because it hides what idle nodes show."""
    consolidates = Chance(story.seed, "consolidation").happens(0.5)
    return Consolidation.WHEN_CHEAPER if consolidates else Consolidation.NEVER


def _second_class(story: Story) -> Iterator[KwokNodeClass]:
    if SimulatedFault.SEVERAL_CLASSES in story.faults:
        yield catalogue.second_class(catalogue.boot_delay(Chance(story.seed, "second class")))


class Simulation:
    """The simulation of one story."""

    def __init__(self, story: Story, parts: Parts, *, keep: int | None) -> None:
        chance = Chance(story.seed, "cloud")
        node_class = catalogue.node_class(catalogue.boot_delay(chance))
        joining = (
            SimulatedJoining.AT_ONCE if chance.happens(0.5) else SimulatedJoining.WHILE_BOOTING
        )
        timing = msgspec.structs.replace(parts.timing, searches_every=SEARCHES_EVERY)
        parts = dataclasses.replace(parts, timing=timing)
        self._story = story
        self.living = living = Living(story, joining, parts=parts, keep=keep)
        classes = [node_class, *_second_class(story)]
        for each in classes:
            living.server.create("KwokNodeClass", each)
        for pool in catalogue.pools(
            Chance(story.seed, "pools"), _consolidation(story), of_batch=classes[-1].name
        ):
            living.server.create("NodePool", pool)
        # Nothing has to keep these two: the timeline and the server call them.
        Workloads(living)
        sold = tuple(offering for each in classes for offering in kwok_offerings(each))
        SimulatedTrouble(living, offerings=sold)
        self._asked_for = 0
        living.server.kind(NodeRequest.__name__).heard_by.append(self._request_changed)

    def _request_changed(self, event: StoredChange) -> None:
        """Count requests for waiting pods, but not those of replacements."""
        if event.old is None and REPLACES_ANNOTATION not in event.new.metadata.annotations:
            self._asked_for += 1

    def found_until(self, moment: float) -> AuditBreach | None:
        """Run from the start to a moment."""
        self.living.lives.begin()
        self.living.timeline.run(moment)
        return self.living.auditor.found

    def run(self) -> RunOutcome:
        """Run from the start to the final audit."""
        began = time.process_time()
        living = self.living
        living.lives.begin()
        living.timeline.run(self._story.end - SETTLED)
        if not self._settles() and living.auditor.found is None:
            living.auditor.breach("all settles", "machines are bought without an end")
        if living.auditor.found is None:
            living.auditor.judge()
        return self._outcome(time.process_time() - began)

    def _settles(self) -> bool:
        """Whether purchases end.

        One move to cheaper nodes may lead to another, and a pod that the scheduler places elsewhere
        than planned may need another machine. Such a chain may be in progress at the end of the
        quiet time, because people may have held nodes until then. But it must end.
        """
        moment = self._story.end
        while moment <= self._story.end + CHAIN:
            before = self._asked_for
            self.living.timeline.run(moment)
            # Pods end in the quiet time, too. So nodes may be replaced at any time, also right now.
            is_moving = has_begun_within(SETTLED, self.living.server)
            if self._asked_for == before and not is_moving:
                return True
            moment += SETTLED
        return False

    def _outcome(self, seconds: float) -> RunOutcome:
        around, cloud = self.living.around, self.living.cloud
        auditor, lives = self.living.auditor, self.living.lives
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
