"""Why each node is kept, written into the record of its machine for `kubectl get noderecords`.

It is the answer that the status of pools, the metrics and `growth explain node` give, too. It may
change with each pod, so it isn't written each time: a reason is written once it has lasted for a
while, and in one count only a few of all records are written. What is written without effect, as
while the API server's definition of records is older than this field, is tried less and less often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reconciler.core.actions import PatchStatus, Sequence, machine, version_of
from reconciler.core.decision import NEVER
from reconciler.facts.recording import KIND
from reconciler.pools.ledger import FIRST_WAIT, Unrecorded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.noderecord import NodeRecord
    from growth.instant import Instant
    from growth.keeping.wanting import Keeping
    from reconciler.core.world import World

AT_ONCE: Final = 5
"""Records to write in one count, of which there is at most one a second."""


class ReasonsRecorded(NamedTuple):
    """The writes of one count, and what to remember."""

    sequences: tuple[Sequence, ...]
    unrecorded: Mapping[str, Unrecorded]
    wake_at: float
    """When the next record may be written."""


def reasons_recorded(
    keepings: Mapping[str, Keeping], world: World, now: Instant, *, between: float
) -> ReasonsRecorded:
    """Writes for records that have said something else for long enough.

    The next count is `between` seconds later, or more.
    """
    differing = dict(_differing(keepings, world, now))
    due = [
        name
        for name, each in sorted(differing.items(), key=lambda item: (item[1].next_at, item[0]))
        if each.next_at <= now.monotonic and world.is_free(machine(name))
    ]
    written = [(world.records[name], differing[name].reason) for name in due[:AT_ONCE]]
    tried = {record.name: differing[record.name].tried(now.monotonic) for record, _ in written}
    unrecorded = {**differing, **tried}
    waits = (each.next_at for name, each in unrecorded.items() if world.is_free(machine(name)))
    return ReasonsRecorded(
        sequences=tuple(_written(record, reason) for record, reason in written),
        unrecorded=unrecorded,
        wake_at=max(min(waits, default=NEVER), now.monotonic + between),
    )


def _differing(
    keepings: Mapping[str, Keeping], world: World, now: Instant
) -> Iterator[tuple[str, Unrecorded]]:
    """Records that don't say why their node is kept, and since when that is so."""
    last = world.ledger.pools.unrecorded
    for name, record in world.records.items():
        keeping = keepings.get(name)
        reason = None if keeping is None else keeping.reason.value
        if reason == record.status.kept:
            continue
        before = last.get(name)
        if before is None or before.reason != reason:
            before = Unrecorded(reason=reason, next_at=now.monotonic + FIRST_WAIT)
        yield name, before


def _written(record: NodeRecord, reason: str | None) -> Sequence:
    # A merge patch takes the field out where it is null.
    patch = PatchStatus(kind=KIND, version=version_of(record), status={"kept": reason})
    why = "its node is gone" if reason is None else f"the node is kept: {reason}"
    return Sequence(subject=machine(record.name), steps=(patch,), why=why)
