"""What follows from a step of a pass that fails: whom it is blamed on, and how the pass goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from reconciler.aside.blaming import blamed, suspects_in, told_without_values
from reconciler.aside.ledger import PutAside
from reconciler.aside.objects import all_subjects, versions_of
from reconciler.aside.standing_in import with_stand_ins
from reconciler.core.actions import SubjectKind
from reconciler.core.decision import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from growth.instant import Instant
    from reconciler.aside.ledger import AsideLedger
    from reconciler.core.actions import Sequence, Subject
    from reconciler.core.world import World

_Answer = TypeVar("_Answer")

JUDGE: Final = "invariants"
AGAIN: Final = 10.0
"""Seconds after which a rule that was left out is asked again, if nothing changes before."""


class StepFailed(Exception):
    """A step of a pass failed with an exception, which is its cause."""

    def __init__(self, step: str, world: World, ask: Callable[[World], object]) -> None:
        super().__init__(step)
        self.step = step
        self.world = world
        self.ask = ask

    def fails_with(self, subjects: frozenset[Subject]) -> bool:
        """Whether it fails with these put aside, too."""
        try:
            self.ask(with_stand_ins(_with(self.world, subjects, why="", is_poison=True)))
        except Exception:  # noqa: BLE001 - whatever a rule raises, the question is whether it does
            return True
        return False


def guarded(step: str, world: World, ask: Callable[[World], _Answer]) -> _Answer:
    """The answer of a step; StepFailed if it raises anything."""
    try:
        return ask(world)
    except Exception as error:
        raise StepFailed(step, world, ask) from error


def blamed_for_failure(failed: StepFailed, given: World) -> World:
    """The world for the next attempt: with subjects put aside, or else without the step."""
    error = failed.__cause__
    if error is None:
        raise failed
    why = told_without_values(error, step=failed.step)
    known = given.ledger.aside.subjects
    found = blamed(
        failed.fails_with,
        suspects=[each for each in suspects_in(error) if each not in known],
        candidates=[each for each in all_subjects(failed.world) if each not in known],
    )
    if found:
        return _with(given, found, why=why, is_poison=True)
    failing = {**given.ledger.aside.failing, failed.step: why}
    return _remembering(given, replace(given.ledger.aside, failing=failing))


def without_changed(world: World, now: Instant) -> World:
    """The world in which only those are put aside that are still as they were, and not due."""
    aside = world.ledger.aside
    if not aside.subjects and not aside.failing:
        return world
    subjects = {
        subject: each
        for subject, each in aside.subjects.items()
        if each.versions == versions_of(subject, world) and each.until > now.monotonic
    }
    return _remembering(world, replace(aside, subjects=subjects, failing={}))


def next_try(aside: AsideLedger) -> float:
    """When the first subject is due."""
    return min((each.until for each in aside.subjects.values()), default=NEVER)


def put_aside_by_judge(
    held: Mapping[Subject, str], sequences: Iterable[Sequence], after: World
) -> tuple[World, tuple[Sequence, ...]]:
    """What is remembered and what begins, if only these subjects are held back, and why."""
    kept = tuple(each for each in sequences if each.subject not in held)
    for subject, why in held.items():
        # A lane has no object that could change.
        if subject.kind is not SubjectKind.LANE:
            after = _with(after, frozenset({subject}), why=why, is_poison=False)
    return after, kept


def new_words(*, before: AsideLedger, after: AsideLedger) -> Iterator[str]:
    """What happened in this pass, for people."""
    for subject, each in after.subjects.items():
        known = before.subjects.get(subject)
        if known is None or known.versions != each.versions:
            yield f"{subject.kind} {subject.name} is put aside: {each.why}"
    for step, why in after.failing.items():
        if before.failing.get(step) != why:
            yield f"the rule {step} is left out: {why}"


def _with(world: World, subjects: frozenset[Subject], *, why: str, is_poison: bool) -> World:
    new = {
        subject: PutAside(
            subject=subject,
            versions=versions_of(subject, world),
            why=why,
            is_poison=is_poison,
        )
        for subject in sorted(subjects)
    }
    aside = world.ledger.aside
    return _remembering(world, replace(aside, subjects={**aside.subjects, **new}))


def _remembering(world: World, aside: AsideLedger) -> World:
    return world.remembering(replace(world.ledger, aside=aside))
