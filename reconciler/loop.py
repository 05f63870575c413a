"""The loop: it takes a World, the rooms decide in a fixed order, and effects carry it out.

Before anything is carried out, all decisions are checked against the invariants. If one would be
broken, nothing is carried out, now or later: the scene is told to stop, and a person has to look.

A rule that fails on what others have written stops nothing else: its subject is put aside, and the
pass is made again (reconciler/aside). If no subject can be blamed, the rule is left out this time.
A subject is put aside for a while, too, if a step about it crashed.

The loop wakes when something has changed, or at the time that a room asked for, and turns a burst
of changes into one pass. What the rooms remember between passes is the ledger, which only this loop
stores. Nothing is awaited between taking the World and starting the sequences, so a pass happens at
a single moment.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeAlias

import structlog

from reconciler import (
    departure,
    observing,
    planning,
    pools,
    provisioning,
    records,
    removal,
    replacement,
    scaling,
)
from reconciler.aside.attempts import (
    AGAIN,
    JUDGE,
    StepFailed,
    blamed_for_failure,
    guarded,
    new_words,
    next_try,
    put_aside_by_judge,
    without_changed,
)
from reconciler.aside.crashed import with_crashed
from reconciler.aside.standing_in import with_stand_ins
from reconciler.aside.telling import told_of_aside
from reconciler.brakes import rule as brakes
from reconciler.brakes.pauses import buys_in_paused_pool
from reconciler.core.beginning import may_begin
from reconciler.core.decision import NEVER, Decision, Section, earliest
from reconciler.core.leaving_out import is_left_out
from reconciler.invariants.judging import judged
from reconciler.pools import node_classes
from reconciler.records.before_deeds import recorded_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from growth.instant import Instant
    from reconciler.core import actions
    from reconciler.core.actions import Subject
    from reconciler.core.world import World
    from reconciler.invariants.breach import Breach
    from reconciler.invariants.judging import Judgement
    from reconciler.ledger import Ledger

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Room(Generic[Section]):
    """A room's rule, and how its section of the ledger is stored: both are of one type."""

    name: str
    decide: Callable[[World, Instant], Decision[Section]]
    store: Callable[[Ledger, Section], Ledger]

    def asked(self, world: World, now: Instant) -> tuple[Decision[Section], World]:
        """The room's decision, and the world with the updated ledger."""
        decision = self.decide(world, now)
        return decision, world.remembering(self.store(world.ledger, decision.section))


def remembers_nothing(ledger: Ledger, _section: None) -> Ledger:
    """The unchanged ledger, for rooms without a section."""
    return ledger


BRAKES = Room("brakes", brakes.decide, lambda ledger, section: replace(ledger, brakes=section))
ROOMS = (
    Room("node_classes", node_classes.decide, remembers_nothing),
    Room(
        "provisioning",
        provisioning.decide,
        lambda ledger, section: replace(ledger, provisioning=section),
    ),
    Room("records", records.decide, lambda ledger, section: replace(ledger, records=section)),
    Room("scaling", scaling.decide, lambda ledger, section: replace(ledger, scaling=section)),
    Room("removal", removal.decide, lambda ledger, section: replace(ledger, removal=section)),
    Room("planning", planning.decide, lambda ledger, section: replace(ledger, planning=section)),
    Room(
        "replacement",
        replacement.decide,
        lambda ledger, section: replace(ledger, replacement=section),
    ),
    Room("departure", departure.decide, lambda ledger, section: replace(ledger, departure=section)),
    Room("observing", observing.decide, lambda ledger, section: replace(ledger, observing=section)),
    Room("pools", pools.decide, lambda ledger, section: replace(ledger, pools=section)),
)
"""The rooms in their order: machines on their way come before new plans, demand before replacement,
and the status of pools last, because it reports what all others found."""


@dataclass(frozen=True, kw_only=True)
class PassOutcome:
    """The decisions of all rooms together."""

    ledger: Ledger
    sequences: tuple[actions.Sequence, ...]
    wake_at: float
    breach: Breach | None = None
    """A decision of this pass that must not be carried out."""


Judge: TypeAlias = "Callable[[Iterable[actions.Sequence], World, Instant], Judgement]"


def decide(
    world: World, now: Instant, rooms: Sequence[Room[Any]] = ROOMS, *, judge: Judge = judged
) -> PassOutcome:
    """One pass: a pure function of the world and the moment."""
    # Not even the brakes are asked: the ledger has to stay as the breach left it, for a person to
    # see.
    if world.ledger.brakes.breach is not None:
        return PassOutcome(ledger=world.ledger, sequences=(), wake_at=NEVER)
    given = with_crashed(without_changed(world, now), now)
    while True:
        try:
            return _attempted(given, now, rooms, judge)
        except StepFailed as failed:
            given = blamed_for_failure(failed, given)


def _attempted(given: World, now: Instant, rooms: Sequence[Room[Any]], judge: Judge) -> PassOutcome:
    """A pass; StepFailed if one of its steps fails."""
    failing = given.ledger.aside.failing
    world = with_stand_ins(given)
    decided, after = _decided(world, now, rooms)
    wake_at = min(decided.wake_at, next_try(given.ledger.aside))
    wake_at = min(wake_at, now.monotonic + AGAIN) if failing else wake_at
    if JUDGE in failing:
        return PassOutcome(ledger=after.ledger, sequences=(), wake_at=wake_at)
    judgement = guarded(JUDGE, given, lambda _: judge(decided.sequences, after, now))
    if judgement.breach is not None:
        return _stopped(after, judgement.breach)
    held = {
        subject: f"{breach.invariant}: {breach.text}" for subject, breach in judgement.aside.items()
    }
    after, began = put_aside_by_judge(held, decided.sequences, after)
    return PassOutcome(
        ledger=replace(after.ledger, invariants=judgement.memory), sequences=began, wake_at=wake_at
    )


def _stopped(world: World, breach: Breach) -> PassOutcome:
    ledger = replace(world.ledger, brakes=world.ledger.brakes.stopped(breach))
    return PassOutcome(ledger=ledger, sequences=(), wake_at=NEVER, breach=breach)


def _decided(world: World, now: Instant, rooms: Sequence[Room[Any]]) -> tuple[PassOutcome, World]:
    """The decisions of the rooms, and the world with what they remember."""
    failing = world.ledger.aside.failing
    if BRAKES.name in failing:
        return PassOutcome(ledger=world.ledger, sequences=(), wake_at=NEVER), world
    braked, world = guarded(BRAKES.name, world, lambda seen: BRAKES.asked(seen, now))
    wakes = [braked.wake_at]
    wanted: list[actions.Sequence] = []
    if world.ledger.brakes.may_act:
        told, world = told_of_aside(world)
        wanted += (*told, *braked.sequences)
        for room in rooms:
            if room.name in failing:
                continue
            decision, world = guarded(room.name, world, partial(_asked, room, now))
            wakes.append(decision.wake_at)
            wanted += decision.sequences
    outcome = PassOutcome(
        ledger=world.ledger,
        sequences=recorded_first(chosen(wanted, world), world, now),
        wake_at=earliest(wakes),
    )
    return outcome, world


def _asked(room: Room[Any], now: Instant, world: World) -> tuple[Decision[Any], World]:
    return room.asked(world, now)


def chosen(wanted: Iterable[actions.Sequence], world: World) -> tuple[actions.Sequence, ...]:
    """The sequences that begin: for each subject, the first one that may.

    Rooms are asked in their order, and each returns its most important sequences first. No room
    resolves conflicts itself.
    """
    first: dict[Subject, actions.Sequence] = {}
    for sequence in _startable(wanted, world):
        first.setdefault(sequence.subject, sequence)
    return tuple(first.values())


def _startable(decided: Iterable[actions.Sequence], world: World) -> Iterator[actions.Sequence]:
    """The sequences that may begin now: about free subjects, and within pauses and modes."""
    held = world.ledger.brakes.pauses
    return (
        sequence
        for sequence in decided
        if may_begin(sequence, world)
        and not buys_in_paused_pool(sequence, held)
        and not is_left_out(sequence, world)
    )


class LoopScene(Protocol):
    """The environment of the loop: production, a test, or the simulation."""

    def now(self) -> Instant:
        """The current time."""

    def world(self, ledger: Ledger) -> World:
        """Everything that is known now."""

    def start(self, sequence: actions.Sequence) -> None:
        """Begin to carry out a sequence; its subject is busy until it has ended and was seen."""

    def stop(self, breach: Breach) -> None:
        """Stop all writes, including sequences in progress, and report the breach."""

    def tell(self, failing: Iterable[str]) -> None:
        """Tell that these were put aside or left out, each with the reason."""


class Loop:
    """The loop over a scene."""

    def __init__(
        self,
        scene: LoopScene,
        *,
        ledger: Ledger,
        rooms: Sequence[Room[Any]] = ROOMS,
        judge: Judge = judged,
        timed: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Each pass runs within `timed`."""
        self.ledger = ledger
        self._timed = timed
        self._scene = scene
        self._rooms = rooms
        self._judge = judge
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Something has changed; from any callback of the event loop."""
        self._changed.set()

    async def run(self, *, coalesce: float) -> NoReturn:
        """Pass after pass, until it is cancelled."""
        self._changed.set()
        wake_at = 0.0
        while True:
            await self._woken(wake_at)
            self._changed.clear()
            wake_at = self.once()
            await asyncio.sleep(self._rest(wake_at, coalesce))

    def once(self) -> float:
        """One pass; the answer is when the next one is due without any change."""
        with self._timed():
            return self._pass()

    def _pass(self) -> float:
        now = self._scene.now()
        world = self._scene.world(self.ledger)
        outcome = decide(world, now, self._rooms, judge=self._judge)
        self.ledger = outcome.ledger
        if outcome.breach is not None:
            self._scene.stop(outcome.breach)
        if failing := tuple(new_words(before=world.ledger.aside, after=outcome.ledger.aside)):
            self._scene.tell(failing)
        for sequence in outcome.sequences:
            _log.info("decided", subject=sequence.subject.name, why=sequence.why)
            self._scene.start(sequence)
        return outcome.wake_at

    def _rest(self, wake_at: float, coalesce: float) -> float:
        """Changes wait for each other, but what is due at a moment isn't late for their sake."""
        left = wake_at - self._scene.now().monotonic
        return min(left, coalesce) if left > 0 else coalesce

    async def _woken(self, wake_at: float) -> None:
        left = wake_at - self._scene.now().monotonic
        try:
            # Years need no timer, and infinity would be refused by it.
            async with asyncio.timeout(left if left < 86_400 else None):
                await self._changed.wait()
        except TimeoutError:
            return
