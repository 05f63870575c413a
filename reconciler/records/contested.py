"""Tells of a Node that claims a machine without being its Node.

Such a Node is ignored whatever it says. Its kubelet may be set up wrongly, or lie; in both cases a
person has to look. The record has a condition as long as the claim lasts, and gets an event when
the condition changes, so a restart of growth repeats nothing. The Node gets none, as it isn't
growth's.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from growth.api.conditions import Truth, condition_of_type, joined_conditions, stated
from growth.api.noderecord import CONTESTED
from growth.kube.events.event import Severity
from reconciler.core.actions import PatchStatus, Sequence, machine, version_of
from reconciler.facts.events import EventAction, event_about
from reconciler.facts.recording import KIND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as Several

    from growth.api.conditions import Condition
    from growth.api.noderecord import NodeRecord
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World

REASON: Final = "AnotherNode"
SHOWN: Final = 3
LONGEST_MESSAGE: Final = 1024
LONGEST: Final = 128
"""Characters of a providerID that are shown: another program chose them."""


def contested(world: World, now: Instant) -> Iterator[Sequence]:
    """A write for each record whose condition isn't as the Nodes are."""
    for name, claimants in sorted(world.claimants.items()):
        record = world.records.get(name)
        if record is not None and world.is_free(machine(name)):
            yield from _told(record, claimants, now)


def _told(record: NodeRecord, claimants: Several[Node], now: Instant) -> Iterator[Sequence]:
    before = condition_of_type(record.status.conditions, CONTESTED)
    message = _message(record, claimants)
    if message == ("" if before is None else before.message):
        return
    steps = (_patched(record, message, now), *_events(record, message))
    why = "another Node claims the machine" if claimants else "only its Node claims the machine"
    yield Sequence(subject=machine(record.name), steps=steps, why=why)


def _message(record: NodeRecord, claimants: Several[Node]) -> str:
    if not claimants:
        return ""
    found = "; ".join(_claim(each, record) for each in islice(claimants, SHOWN))
    more = f"; and {len(claimants) - SHOWN} more" if len(claimants) > SHOWN else ""
    message = f"{found}{more}. growth ignores what isn't the Node of this machine."
    return message[:LONGEST_MESSAGE]


def _claim(node: Node, record: NodeRecord) -> str:
    if node.name != record.name:
        return f"Node {node.name} has the providerID of this machine"
    shown = node.spec.provider_id[:LONGEST]
    return f"Node {node.name} has this name, but its providerID {shown} is of another machine"


def _patched(record: NodeRecord, message: str, now: Instant) -> Action:
    before = record.status.conditions
    others = tuple(each for each in before if each.type != CONTESTED)
    news = (_condition(record, message, now),) if message else ()
    told = [each.document() for each in joined_conditions(others, *news)]
    return PatchStatus(kind=KIND, version=version_of(record), status={"conditions": told})


def _condition(record: NodeRecord, message: str, now: Instant) -> Condition:
    return stated(
        record.status.conditions,
        name=CONTESTED,
        status=Truth.TRUE,
        generation=record.metadata.generation,
        reason=REASON,
        message=message,
        now=now.wall,
    )


def _events(record: NodeRecord, message: str) -> Iterator[Action]:
    if message:
        note = (
            f"{message} If nobody needs that Node, delete it; otherwise mend the name or the "
            "providerID with which its kubelet registers."
        )
        yield event_about(
            record,
            action=EventAction.DECIDING,
            reason=CONTESTED,
            note=note,
            severity=Severity.WARNING,
        )
