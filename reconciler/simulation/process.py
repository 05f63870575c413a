"""Our process in the simulated cluster: the scene of the real, unchanged loop.

It has its own caches, effects and ledger. It can end at any announced effect. It can also be
stopped while another process takes over, and then continue for a moment without knowing. Messages
to a stopped process wait; messages to an ended one are lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.deletion_cost import PodDeletionCost
from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.instant import Instant
from reconciler.core.installation import Installation
from reconciler.core.measured import Measurements
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
from reconciler.simulation.volumes import kinds_of_volumes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
    NodeRecord.__name__,
    NodeRemovalRequest.__name__,
    KwokNodeClass.__name__,
)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a process. Tests replace them by parts with a planted mistake."""

    rooms: Sequence[Room[Any]] = ROOMS
    judge: Judge = judged
    effects: type[SimulatedEffects] = SimulatedEffects
    cache: type[Cache] = Cache
    timing: Timing = TIMING
    measured: Callable[[], Measurements] = Measurements
    """What nodes use, as it was read last."""
    is_steered: bool = False
    """Whether an extender ranks nodes for the scheduler, the fullest first."""
    deletion_cost: PodDeletionCost = PodDeletionCost.UNTOUCHED


@dataclass(frozen=True, kw_only=True)
class ProcessFate:
    """The environment of a process."""

    around: Surroundings
    cloud: SimulatedCloud
    parts: Parts
    network: Chance
    names: Chance
    announced: Callable[[SimulatedProcess, Point], None]
    decided: Callable[[SimulatedProcess, World, Instant], None]
    stopped: Callable[[SimulatedProcess, Breach], None]
    put_aside: Callable[[SimulatedProcess, str], None]


class SimulatedProcess:
    """A reconciler process, from its start to its end."""

    def __init__(self, name: str, fate: ProcessFate) -> None:
        self.name = name
        self.is_alive = True
        self.is_frozen = False
        self.leads = True
        """Whether it holds the Lease; a stopped process doesn't know this."""
        self.jump = 0.0
        """The seconds by which its wall clock was moved."""
        around, parts = fate.around, fate.parts
        self.caches = {
            kind: parts.cache(
                around.server.kind(kind),
                around,
                chance=fate.network,
                take=self._take,
                arrive=self.arrive,
            )
            for kind in (*WATCHED, *kinds_of_volumes(around))
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
        known = fate.cloud.installation
        self._installation = Installation(id=known) if known else None
        for cache in self.caches.values():
            cache.connect()
        self.clouds.look()
        self.wake()

    # The methods of `loop.Scene`.

    def now(self) -> Instant:
        """The current time on both clocks."""
        now = self._timeline.now
        return Instant(monotonic=now, wall=START + timedelta(seconds=now + self.jump))

    def world(self, ledger: Ledger) -> World:
        """The World as this process knows it."""
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
        parts = self._fate.parts
        world = msgspec.structs.replace(
            world,
            is_steered=parts.is_steered,
            deletion_cost=parts.deletion_cost,
            installation=self._installation,
            use=parts.measured(),
        )
        self._fate.decided(self, world, self.now())
        return world

    def start(self, sequence: actions.Sequence) -> None:
        """Start a sequence."""
        self._fate.around.trace.note(f"{self.name}: {sequence.subject.name}: {sequence.why}")
        self.effects.start(sequence)

    def tell(self, failing: Iterable[str]) -> None:
        """Nothing in a simulated world is poison: whatever is put aside is a mistake of ours."""
        for what in failing:
            self._fate.put_aside(self, what)

    def stop(self, breach: Breach) -> None:
        """Stop the process before it commits a breach."""
        self._fate.stopped(self, breach)

    # The methods of its life.

    def arrive(self, action: Callable[..., None], *arguments: Any) -> None:
        """Deliver a message or a timer to this process."""
        if not self.is_alive:
            return
        if self.is_frozen:
            self._held.append((action, arguments))
        else:
            action(*arguments)

    def wake(self) -> None:
        """Run a pass soon, because something has changed."""
        self._pass_at(max(self._timeline.now, self._rested_at))

    def announce(self, point: Point) -> None:
        """Announce that an effect begins or has happened."""
        self._fate.announced(self, point)

    def end(self) -> None:
        """End the process and lose its memory."""
        self.is_alive = False
        self._held.clear()
        for cache in self.caches.values():
            cache.close()

    def thaw(self) -> None:
        """Continue where it stopped, with everything that has arrived meanwhile."""
        self.is_frozen = False
        held, self._held = self._held, []
        # Through `arrive`, because one of them may end the process.
        for action, arguments in held:
            self.arrive(action, *arguments)

    def _pass_at(self, moment: float) -> None:
        if self._due is None or moment < self._due:
            self._due = moment
            self._timeline.at(moment, self.arrive, self._pass, moment)

    def _pass(self, due: float) -> None:
        # The pass was moved to an earlier moment, and has taken place.
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
        """The sizes of everything that it remembers, by name."""
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
