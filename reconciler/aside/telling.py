"""Tells of what is put aside, on the objects themselves: what happened, and how to mend it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from growth.kube.events.event import Severity
from reconciler.aside.objects import objects_of
from reconciler.core.actions import Sequence
from reconciler.core.decision import NEVER
from reconciler.facts.events import EventAction, event_about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.aside.ledger import AsideLedger, PutAside
    from reconciler.core.world import World

REASON: Final = "PutAside"
LONGEST: Final = 512
SHOWN: Final = 3


def told_of_aside(world: World) -> tuple[tuple[Sequence, ...], World]:
    """An event on each object that was put aside, once; and the world that remembers it."""
    aside = world.ledger.aside
    silent = [each for each in aside.subjects.values() if _may_be_told(each, world)]
    if not silent:
        return (), world
    told = {each.subject: msgspec.structs.replace(each, is_told=True) for each in silent}
    ledger = replace(world.ledger, aside=replace(aside, subjects={**aside.subjects, **told}))
    return tuple(_sequences(silent, world)), world.remembering(ledger)


def in_one_line(aside: AsideLedger) -> str:
    """What is put aside or left out, for the Lease; empty if there is nothing."""
    found = [f"{each.kind} {each.name}: {why.why}" for each, why in sorted(aside.subjects.items())]
    found += [f"rule {rule}: {why}" for rule, why in sorted(aside.failing.items())]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(each[:LONGEST] for each in found[:SHOWN]) + more


def _may_be_told(each: PutAside, world: World) -> bool:
    return not each.is_told and each.subject not in world.busy


def _sequences(silent: list[PutAside], world: World) -> Iterator[Sequence]:
    for each in silent:
        steps = tuple(
            event_about(
                found,
                action=EventAction.DECIDING,
                reason=REASON,
                note=_note(each),
                severity=Severity.WARNING,
            )
            for found in objects_of(each.subject, world)
        )
        if steps:
            yield Sequence(subject=each.subject, steps=steps, why="it is put aside")


def _note(each: PutAside) -> str:
    mend = (
        "Undo the last change of its annotations, labels or spec; growth tries again after each "
        "change."
    )
    if each.until < NEVER:
        mend = "growth tries again after each change, and by itself after at most 10 minutes."
    return (
        f"growth decides nothing about this and counts it as it is: {each.why[:LONGEST]}. "
        f"Everything else goes on. {mend}"
    )
