"""The lives of our process: it starts, ends at an effect, restarts, and is replaced.

It can end at each announced effect, by the restart fault or because the story says so. Then its
memory is lost; calls that it has sent may still arrive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.effects.points import Names, Side
from reconciler.loop import decide
from reconciler.simulation.chance import Chance
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.process import Parts, ProcessFate, SimulatedProcess
from reconciler.simulation.spread_auditor import SpreadAuditor

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.effects.points import Point
    from reconciler.invariants.breach import Breach
    from reconciler.simulation.auditor import Auditor
    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.surroundings import Surroundings

RESTARTS: Final = 0.05
"""The share of announced effects at which our process ends, if restarts are enabled."""
LIVES_FOR: Final = 240.0
"""The shortest life in seconds: a process that always ends at its first effects settles nothing."""
DOWN: Final = (0.5, 60.0)
"""Seconds until it is restarted."""
STOPPED: Final = "growth stops by itself"
"""The breach that is reported if an invariant stops our process."""
DECIDED_TWICE: Final = 50
"""After this many passes, the same World in another order must give the same actions."""


class Lives:
    """Runs one process after another."""

    def __init__(
        self, around: Surroundings, cloud: SimulatedCloud, *, parts: Parts, auditor: Auditor
    ) -> None:
        self.leader: SimulatedProcess | None = None
        self.effects = 0
        """The number of announced effects in all lives."""
        self.points: list[str] = []
        """The names of both sides of each effect."""
        self._names = Names()
        self.passes = 0
        self._story = story = around.story
        self._parts = parts
        self._faults = around.faults
        self._timeline = around.timeline
        self._trace = around.trace
        self._auditor = auditor
        self._spreads = SpreadAuditor(auditor.breach)
        self._begun = 0
        self._begun_at = 0.0
        self._breaks: list[float] = []
        """When each life began, when its memory did, and when it ended."""
        self._remembers = False
        """Whether the leading process has begun to remember: it waits until it sees everything."""
        self._fate = ProcessFate(
            around=around,
            cloud=cloud,
            parts=parts,
            network=Chance(story.seed, "network"),
            names=Chance(story.seed, "names"),
            announced=self._announced,
            decided=self._decided,
            stopped=self._stopped,
            put_aside=self._put_aside,
        )

    def begin(self) -> None:
        """Start a new process, which leads."""
        self._begun += 1
        self._breaks.append(self._timeline.now)
        self._begun_at = self._timeline.now
        self._remembers = False
        self.leader = SimulatedProcess(f"process {self._begun}", self._fate)
        self._trace.note(f"{self.leader.name} starts")

    def _announced(self, process: SimulatedProcess, point: Point) -> None:
        name = self._names.of(point)
        self.points.append(name)
        if point.side is Side.BEFORE:
            self.effects += 1
            self._auditor.effect_begins(point.step, point.subject)
        if name == self._story.kill:
            # Always the same time, so that two runs differ only in where the process ends.
            self._end(process, point, down=1.0)
        elif process is self.leader and self._is_struck():
            self._end(
                process, point, down=self._faults.chance(SimulatedFault.RESTART).between(*DOWN)
            )

    def _is_struck(self) -> bool:
        age = self._timeline.now - self._begun_at
        return age >= LIVES_FOR and self._faults.strikes(SimulatedFault.RESTART, RESTARTS)

    def is_one_life(self, since: float, until: float) -> bool:
        """Whether one process led all the time and remembers it.

        A stopped one leads until another begins.
        """
        return self._breaks[0] <= since and not any(since < at <= until for at in self._breaks)

    def interrupt(self, *, down: float) -> None:
        """End the leading process between two effects, and restart it after a while."""
        if self.leader is not None:
            self._trace.note(f"{self.leader.name} ends")
            self._stop(self.leader, down=down)

    def _end(self, process: SimulatedProcess, point: Point, *, down: float) -> None:
        self._trace.note(f"{process.name} ends {point.side} {point.step} of {point.subject}")
        self._stop(process, down=down)

    def _stop(self, process: SimulatedProcess, *, down: float) -> None:
        self._breaks.append(self._timeline.now)
        process.end()
        self.leader = None
        self._timeline.after(down, self.begin)

    def _stopped(self, process: SimulatedProcess, breach: Breach) -> None:
        """Report a process that has stopped itself, which must never happen in a correct one."""
        self._auditor.breach(STOPPED, f"{process.name}: {breach.invariant}: {breach.text}")

    def _put_aside(self, process: SimulatedProcess, what: str) -> None:
        self._auditor.breach(STOPPED, f"{process.name}: {what}")

    def _decided(self, process: SimulatedProcess, world: World, now: Instant) -> None:
        self.passes += 1
        self._spreads.decides(process.name, world, now)
        if process is self.leader and not self._remembers:
            self._remembers = world.ledger.removal.began is not None
            self._breaks.append(self._timeline.now)
        if self.passes % DECIDED_TWICE:
            return
        rooms, judge = self._parts.rooms, self._parts.judge
        other = in_another_order(world)
        if decide(world, now, rooms, judge=judge) != decide(other, now, rooms, judge=judge):
            self._auditor.breach("same world, same actions", f"{process.name} decides by order")
        self._check_memory(process, world)

    def _check_memory(self, process: SimulatedProcess, world: World) -> None:
        """Check that memory depends on live objects, and doesn't grow forever."""
        live = len(world.requests) + len(world.removals) + len(world.busy)
        # They are remembered before their objects are seen.
        live += len(world.ledger.planning.unconfirmed)
        for name, size in process.remembered():
            if size > 2 * live + 50:
                self._auditor.breach("memory follows objects", f"{size} {name} for {live} objects")


def in_another_order(world: World) -> World:
    """The same World with its mappings in another order, which must not matter."""
    turned = {
        name: dict(reversed(getattr(world, name).items()))
        for name in (
            "pending",
            "pools",
            "requests",
            "removals",
            "offerings",
            "answers",
            "deletions",
            "evictions",
            "sources",
        )
    }
    return msgspec.structs.replace(world, **turned)
