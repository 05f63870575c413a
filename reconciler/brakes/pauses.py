"""Which pools are paused, until when, and how their status explains it.

An annotation pauses one pool, and a ConfigMap pauses all of them. Both can be set with kubectl
while growth is down, and both end by themselves. A time that can't be parsed pauses too: someone
wanted growth to stop, and a typo must not make it go on. Of two pauses the longer one counts.

A paused pool buys nothing and gives nothing back. Machines on their way are finished: what is paid
for should serve.

A pool that only observes is held in the same way, without an end.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.installed import PAUSE_CONFIG_MAP
from growth.api.wellknown import (
    PAUSE_REASON_KEY,
    PAUSE_UNTIL_KEY,
    PAUSED_REASON_ANNOTATION,
    PAUSED_UNTIL_ANNOTATION,
)
from growth.api.written import write_time
from growth.foreign_text import parse_time
from reconciler.core.actions import CreateMachine, CreateNodeRequest, Sequence, pool_subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from reconciler.core.pause_of_all import PauseOfAll
    from reconciler.core.world import World

LOOKS_AGAIN: Final = 60.0
"""Seconds between two looks at most: the end is in wall time, which may be changed meanwhile."""


class PauseCause(StrEnum):
    """The cause of a pool's pause, which is the reason of its condition."""

    POOL = "PausedByAnnotation"
    ALL = "PausedByConfigMap"
    UNREADABLE = "PauseUnreadable"
    PUT_ASIDE = "PutAside"
    UNRECORDED = "MachinesNotRecorded"
    OBSERVES = "Observes"
    """Nobody paused the pool: it is in the mode Observe, which has a condition of its own."""


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """One pool is paused."""

    cause: PauseCause
    message: str
    until: datetime | None = None
    """None: until a person fixes what is written."""

    @property
    def is_of_mode(self) -> bool:
        """Whether the pool only observes, and nobody paused it."""
        return self.cause is PauseCause.OBSERVES


def pauses(world: World, now: Instant) -> Mapping[str, Pause]:
    """The pools that are paused now, by name."""
    of_all = _of_all(world.pause_of_all)
    found = {
        name: [
            pause
            for pause in (
                _observes(pool, world),
                _of_pool(pool),
                of_all,
                _put_aside(pool, world),
            )
            if pause and _lasts(pause, now)
        ]
        for name, pool in sorted(world.pools.items())
    }
    return {name: max(several, key=_length) for name, several in found.items() if several}


def waits_for_records(pools: Iterable[tuple[str, str]]) -> Mapping[str, Pause]:
    """The pause of each pool that may have machines without a record; of each, the first Node."""
    first: dict[str, str] = {}
    for pool, name in pools:
        first.setdefault(pool, name)
    return {pool: _unrecorded(name) for pool, name in first.items()}


def _unrecorded(name: str) -> Pause:
    message = (
        f"Node {name} has no NodeRecord. The pool waits until a list of its provider shows whether "
        "it is one of its machines."
    )
    return Pause(cause=PauseCause.UNRECORDED, message=message)


def buys_in_paused_pool(sequence: Sequence, held: Mapping[str, Pause]) -> bool:
    """Whether a sequence would buy something in a paused pool."""
    return any(pool in held for step in sequence.steps for pool in _buys_for(step))


def next_pause_end(held: Mapping[str, Pause], now: Instant) -> float:
    """When to check again for the end of a pause, in monotonic seconds; infinity if none ends."""
    ends = [-now.seconds_since(pause.until) for pause in held.values() if pause.until is not None]
    return now.monotonic + min(*ends, LOOKS_AGAIN) if ends else float("inf")


def _of_pool(pool: NodePool) -> Pause | None:
    annotations = pool.metadata.annotations
    if PAUSED_UNTIL_ANNOTATION not in annotations:
        return None
    return _read(
        annotations[PAUSED_UNTIL_ANNOTATION],
        PauseCause.POOL,
        reason=annotations.get(PAUSED_REASON_ANNOTATION, ""),
        place=f"annotation {PAUSED_UNTIL_ANNOTATION}",
    )


def _observes(pool: NodePool, world: World) -> Pause | None:
    if not world.only_observes(pool.name):
        return None
    return Pause(cause=PauseCause.OBSERVES, message="The pool only observes.")


def _put_aside(pool: NodePool, world: World) -> Pause | None:
    if pool_subject(pool.name) not in world.aside:
        return None
    message = "growth can't decide about the pool: its event PutAside says why"
    return Pause(cause=PauseCause.PUT_ASIDE, message=message)


def _of_all(written: PauseOfAll | None) -> Pause | None:
    if written is None:
        return None
    return _read(
        written.data.get(PAUSE_UNTIL_KEY, ""),
        PauseCause.ALL,
        reason=written.data.get(PAUSE_REASON_KEY, ""),
        place=f"ConfigMap {written.metadata.namespace}/{PAUSE_CONFIG_MAP}: {PAUSE_UNTIL_KEY}",
    )


def _read(until: str, cause: PauseCause, *, reason: str, place: str) -> Pause:
    try:
        end = parse_time(until)
    except ValueError as mistake:
        message = f'{place}: "{until[:64]}" {mistake}; the pool stays paused until this is fixed'
        return Pause(cause=PauseCause.UNREADABLE, message=message)
    told = f"Until {write_time(end)}" + (f": {reason[:512]}" if reason else "")
    return Pause(cause=cause, message=told, until=end)


def _lasts(pause: Pause, now: Instant) -> bool:
    return pause.until is None or now.seconds_since(pause.until) < 0


def _length(pause: Pause) -> float:
    return float("inf") if pause.until is None else pause.until.timestamp()


def _buys_for(step: object) -> Iterator[str]:
    match step:
        case CreateNodeRequest(request=request):
            yield request.spec.pool
        case CreateMachine(order=order):
            yield order.pool
        case _:
            return
