"""What growth does to a Node is in its record first.

Rules see Nodes as their records describe them. So a change of a Node that a rule will ask about
later is written twice: for the rules into the record, for people onto the Node. A mark is in the
record before it is on the Node, and on the Node no longer when the record loses it: wherever the
process ends, growth knows of each mark that it has set. No rule has to think of it: this is the one
place, and it sees each sequence before it begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.wellknown import (
    CORDONED_ANNOTATION,
    REPLACES_ANNOTATION,
    SCALE_DOWN_AT_ANNOTATION,
    TEMPLATE_ANNOTATION,
)
from growth.foreign_text import parse_time
from reconciler.core.actions import SetNode
from reconciler.facts.recording import patched_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.noderecord import NodeRecord
    from growth.instant import Instant
    from reconciler.core.actions import Action, Sequence
    from reconciler.core.world import World


def recorded_first(
    sequences: Iterable[Sequence], world: World, now: Instant
) -> tuple[Sequence, ...]:
    """The same sequences, with a write of the record for each change of a Node that needs it."""
    return tuple(_recorded(sequence, world, now) for sequence in sequences)


def _recorded(sequence: Sequence, world: World, now: Instant) -> Sequence:
    steps = tuple(each for step in sequence.steps for each in _with_record(step, world, now))
    if len(steps) == len(sequence.steps):
        return sequence
    return msgspec.structs.replace(sequence, steps=steps)


def _with_record(step: Action, world: World, now: Instant) -> Iterator[Action]:
    record = world.records.get(step.node.name) if isinstance(step, SetNode) else None
    changes = {} if record is None else _changes(step.annotations, record)  # type: ignore[union-attr]
    if record is None or not changes:
        yield step
        return
    patch = patched_record(record, now, **changes)
    is_taken_off = not any(changes.values()) or changes.keys() == {"swap_ended"}
    yield from (step, patch) if is_taken_off else (patch, step)


def _changes(annotations: Mapping[str, str | None], record: NodeRecord) -> dict[str, Any]:
    """What the record has to say from now on, of what it doesn't say yet."""
    status = record.status
    wanted: dict[str, Any] = {}
    if SCALE_DOWN_AT_ANNOTATION in annotations:
        text = annotations[SCALE_DOWN_AT_ANNOTATION]
        wanted["goes_at"] = None if text is None else parse_time(text)
    if CORDONED_ANNOTATION in annotations:
        wanted["cordoned"] = annotations[CORDONED_ANNOTATION]
    if REPLACES_ANNOTATION in annotations and record.spec.replaces is not None:
        wanted["swap_ended"] = annotations[REPLACES_ANNOTATION] is None
    if TEMPLATE_ANNOTATION in annotations:
        text = annotations[TEMPLATE_ANNOTATION]
        wanted["template"] = None if text == record.spec.template else text
    return {name: value for name, value in wanted.items() if getattr(status, name) != value}
