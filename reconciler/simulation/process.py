"""Our process in the simulated world: the scene that the real loop plays on, unchanged.

It has caches, effects and a ledger of its own, and a life: it can end at any announced effect, or
stand still while another process takes its place and then go on for a moment without knowing. What
is told to a process that stands still waits; what is told to a dead one is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.instant import Instant
from reconciler.core.timing import Timing
from reconciler.invariants.judging import judged
from reconciler.ledger import Ledger
from reconciler.loop import ROOMS, Judge, Loop
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.indexes import Views, subjects_of
from reconciler.simulation.caches import Cache
from reconciler.simulation.clouds import SimulatedClouds
from reconciler.simulation.effects import SimulatedEffects
from reconciler.simulation.server import START

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from growth.kube.cache.contents import Change
    from growth.kube.cache.health import CacheHealth
    from growth.kube.cache.resource import Key
    from reconciler.core import actions
    from reconciler.core.world import World
    from reconciler.effects.points import Point
    from reconciler.invariants.breach import Breach
    from reconciler.loop import Room
    from reconciler.simulation.chance import Chance
    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.surroundings import Surroundings

TIMING = Timing()
WATCHED = (
    "nodes",
    "pods",
    "namespaces",
    "replica_sets",
    "daemon_sets",
    "budgets",
    NodePool.__name__,
    NodeRequest.__name__,
    NodeRemovalRequest.__name__,
    KwokNodeClass.__name__,
)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a process is made of. Tests put parts with a planted mistake in their place."""

    rooms: Sequence[Room[Any]] = ROOMS
    judge: Judge = judged
    effects: type[SimulatedEffects] = SimulatedEffects
    cache: type[Cache] = Cache
    timing: Timing = TIMING
    is_steered: bool = False
    """Whether somebody ranks nodes for the scheduler, the fullest first."""


@dataclass(frozen=True, kw_only=True)
class ProcessFate:
    """What a process is born into."""

    around: Surroundings
    cloud: SimulatedCloud
    parts: Parts
    network: Chance
    names: Chance
    announced: Callable[[SimulatedProcess, Point], None]
    decided: Callable[[SimulatedProcess, World, Instant], None]
    stopped: Callable[[SimulatedProcess, Breach], None]


class SimulatedProcess:
    """One life of the reconciler."""

    def __init__(self, name: str, fate: ProcessFate) -> None:
        self.name = name
        self.is_alive = True
        self.is_frozen = False
        self.leads = True
        """Whether the lease is ours; a process that stands still can't know."""
        self.jump = 0.0
        """Seconds that somebody has moved the clock on the wall by."""
        around, parts = fate.around, fate.parts
        self.caches = {
            kind: parts.cache(
                around.server.kind(kind),
                around,
                chance=fate.network,
                take=self._take,
                arrive=self.arrive,
            )
            for kind in WATCHED
        }
        self.views = Views()
        self.demand = KnownDemand(self.now)
        self.effects = parts.effects(
            around, fate.cloud, caches=self.caches, chance=fate.network, owner=self
        )
        self.clouds = SimulatedClouds(self, fate.cloud, around)
        self.loop = Loop(self, ledger=Ledger(), rooms=parts.rooms, judge=parts.judge)
        self._fate = fate
        self._timeline = around.timeline
        self.timing = parts.timing
        self._held: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._due: float | None = None
        self._rested_at = 0.0
        for cache in self.caches.values():
            cache.connect()
        self.clouds.look()
        self.wake()

    # What `loop.Scene` asks for.

    def now(self) -> Instant:
        """This moment on both clocks."""
        now = self._timeline.now
        return Instant(monotonic=now, wall=START + timedelta(seconds=now + self.jump))

    def world(self, ledger: Ledger) -> World:
        """Everything as this process knows it."""
        world = self.views.world(
            ledger,
            demand=self.demand.at(self.now()),
            replies=self.effects.heard.replies,
            clouds=self.clouds.sights,
            busy=frozenset(self.effects.running) | frozenset(subjects_of(self._unseen())),
            sources=self._health(),
            timing=self.timing,
            seed=self._fate.names.getrandbits(128),
        )
        world = msgspec.structs.replace(world, is_steered=self._fate.parts.is_steered)
        self._fate.decided(self, world, self.now())
        return world

    def start(self, sequence: actions.Sequence) -> None:
        """Begin to carry out a sequence."""
        self._fate.around.trace.note(f"{self.name}: {sequence.subject.name}: {sequence.why}")
        self.effects.start(sequence)

    def stop(self, breach: Breach) -> None:
        """A breach was about to be committed: nothing that has begun goes on."""
        self._fate.stopped(self, breach)

    # Its life.

    def arrive(self, action: Callable[..., None], *arguments: Any) -> None:
        """Something reaches this process: a message, or a moment that it waits for."""
        if not self.is_alive:
            return
        if self.is_frozen:
            self._held.append((action, arguments))
        else:
            action(*arguments)

    def wake(self) -> None:
        """Something has changed: one pass, soon."""
        self._pass_at(max(self._timeline.now, self._rested_at))

    def announce(self, point: Point) -> None:
        """An effect begins, or has happened."""
        self._fate.announced(self, point)

    def end(self) -> None:
        """The process is gone, with everything that it remembers."""
        self.is_alive = False
        self._held.clear()
        for cache in self.caches.values():
            cache.close()

    def thaw(self) -> None:
        """Go on where it stood, with everything that has come meanwhile."""
        self.is_frozen = False
        held, self._held = self._held, []
        for action, arguments in held:
            self.arrive(action, *arguments)

    def _pass_at(self, moment: float) -> None:
        if self._due is None or moment < self._due:
            self._due = moment
            self._timeline.at(moment, self.arrive, self._pass, moment)

    def _pass(self, due: float) -> None:
        if due != self._due:
            return
        self._due = None
        self._rested_at = self._timeline.now + self.timing.coalesce
        wake_at = self.loop.once()
        if wake_at < float("inf"):
            self._pass_at(max(wake_at, self._rested_at))

    def _take(self, kind: str, changes: Sequence[Change[Any]]) -> None:
        self.views.take(kind, changes)
        self.demand.take(kind, changes)
        self.wake()

    def remembered(self) -> Iterator[tuple[str, int]]:
        """How much is remembered, by what it is."""
        yield "answers", len(self.effects.heard.answers)
        yield "deletions", len(self.effects.heard.deletions)
        yield "evictions", len(self.effects.heard.evictions)
        yield "unconfirmed requests", len(self.loop.ledger.planning.unconfirmed)
        yield "own writes", sum(len(cache.unseen) for cache in self.caches.values())

    def _unseen(self) -> Iterator[tuple[str, Key]]:
        for kind, cache in self.caches.items():
            for key in cache.unseen:
                yield kind, key

    def _health(self) -> Mapping[str, CacheHealth]:
        return {kind: cache.health for kind, cache in self.caches.items()}
