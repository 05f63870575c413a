"""Judges all decisions of one pass together, before any of them is carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from reconciler.core.actions import (
    CreateMachine,
    CreateNodeRequest,
    DeleteMachine,
    OpenRemoval,
    SetNode,
    SubjectKind,
)
from reconciler.core.beginning import may_begin
from reconciler.invariants.breach import Breach, Invariant
from reconciler.invariants.buying import created, overbought, remembered_purchases
from reconciler.invariants.ledger import InvariantsLedger
from reconciler.invariants.removing import forbidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.instant import Instant
    from reconciler.core.actions import Action, Sequence, Subject
    from reconciler.core.world import World


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The first breach, if there is one, and what to remember."""

    memory: InvariantsLedger
    breach: Breach | None = None


def judged(sequences: Iterable[Sequence], world: World, now: Instant) -> Judgement:
    """Judges these sequences; `world` has the ledger as the rooms have left it."""
    chosen, memory = tuple(sequences), world.ledger.invariants
    new = created(chosen)
    found = next(_breaches(chosen, world, now), None)
    found = found or next(overbought(new, memory, world), None)
    if found is not None:
        return Judgement(memory=memory, breach=found)
    return Judgement(memory=remembered_purchases(memory, new, world, now))


def _breaches(sequences: Iterable[Sequence], world: World, now: Instant) -> Iterator[Breach]:
    seen: set[Subject] = set()
    for sequence in sequences:
        subject = sequence.subject
        # The loop chooses one sequence for each subject. Two at once would each undo what the other
        # has written.
        if subject in seen or not may_begin(sequence, world):
            yield _second(f"{subject.kind} {subject.name} is being worked on already")
        seen.add(subject)
        for step in sequence.steps:
            yield from _strayed(step, subject)
            yield from forbidden(step, world, now)


def _strayed(step: Action, subject: Subject) -> Iterator[Breach]:
    """A step that touches a machine other than its sequence's subject."""
    touched = _machine_of(step)
    if touched and (subject.kind, subject.name) != (SubjectKind.MACHINE, touched):
        yield _second(f"a sequence of {subject.kind} {subject.name} touches machine {touched}")


def _machine_of(step: Action) -> str:
    match step:
        case CreateNodeRequest(request=request):
            return request.name
        case CreateMachine(order=order):
            return order.name
        case OpenRemoval(removal=removal):
            return removal.name
        case DeleteMachine(machine=machine):
            return machine.name
        case SetNode(node=version):
            return version.name
        case _:
            return ""


def _second(text: str) -> Breach:
    return Breach(invariant=Invariant.ONE_SEQUENCE, text=text)
