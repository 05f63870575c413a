"""Judges all decisions of one pass together, before any of them is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from reconciler.core.actions import (
    CreateMachine,
    CreateNodeRequest,
    DeleteMachine,
    OpenRemoval,
    SetNode,
    Subject,
    SubjectKind,
)
from reconciler.core.beginning import may_begin
from reconciler.invariants.breach import Breach, Invariant
from reconciler.invariants.buying import created, overbought, remembered_purchases
from reconciler.invariants.disrupting import overdisrupted
from reconciler.invariants.ledger import InvariantsLedger
from reconciler.invariants.removing import forbidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.instant import Instant
    from reconciler.core.actions import Action, Sequence
    from reconciler.core.world import World


OF_ONE: Final = frozenset({Invariant.CORDON_KEPT, Invariant.ONE_SEQUENCE, Invariant.BUDGET_KEPT})
"""What concerns one subject only: it is put aside. All others are about money and machines, and
stop everything."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The first breach that stops everything, if there is one, and what to remember."""

    memory: InvariantsLedger
    breach: Breach | None = None
    aside: Mapping[Subject, Breach] = {}
    """Subjects about which something was decided that must not be done, and need not stop others:
    nothing is bought or deleted by it."""


def judged(sequences: Iterable[Sequence], world: World, now: Instant) -> Judgement:
    """Judges these sequences; `world` has the ledger as the rooms have left it."""
    chosen, memory = tuple(sequences), world.ledger.invariants
    found = tuple(_breaches(chosen, world, now))
    stops = next((breach for _, breach in found if breach.invariant not in OF_ONE), None)
    aside = dict(reversed(found))
    new = created(each for each in chosen if each.subject not in aside)
    stops = stops or next(overbought(new, memory, world), None)
    if stops is not None:
        return Judgement(memory=memory, breach=stops)
    return Judgement(memory=remembered_purchases(memory, new, world, now), aside=aside)


def _breaches(
    sequences: Iterable[Sequence], world: World, now: Instant
) -> Iterator[tuple[Subject, Breach]]:
    yield from _of_each(sequences, world, now)
    yield from overdisrupted(sequences, world, now)


def _of_each(
    sequences: Iterable[Sequence], world: World, now: Instant
) -> Iterator[tuple[Subject, Breach]]:
    seen: set[Subject] = set()
    for sequence in sequences:
        subject = sequence.subject
        # The loop chooses one sequence for each subject. Two at once would each undo what the other
        # has written.
        if subject in seen or not may_begin(sequence, world):
            yield subject, _second(f"{subject.kind} {subject.name} is being worked on already")
        seen.add(subject)
        for step in sequence.steps:
            for breach in (*_strayed(step, subject), *forbidden(step, world, now)):
                yield subject, breach


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
