"""Reads what nodes really use from metrics.k8s.io, while a pool goes by it.

Every 15 seconds all figures are read in one list, as metrics-server measures no more often. A
figure is taken only if it can be true: of a node that exists, readable, not negative, not newer
than now, and newer than the one before. Everything else is a problem of its node, which rules read
as "not known". Of each node about sixty samples are kept at most: the newest always, the others
spread over the longest window that a pool has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from growth.errors import GrowthError
from growth.foreign_text import time_or_none
from growth.kube.errors import NotFound
from growth.scheduling.quantity import Amount, milli, units
from growth.scheduling.resources import CPU, MEMORY
from reconciler.core.measured import (
    READ_EVERY,
    SOURCE,
    MeasuredUse,
    Measurements,
    UsedShare,
    UseSample,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.kube.reads import Reads
    from growth.scheduling.node import Node

_log = structlog.get_logger(__name__)

PATH: Final = "/apis/metrics.k8s.io/v1beta1/nodes"
MOST_SAMPLES: Final = 60
CLOSEST: Final = 60.0
"""Seconds between two samples that are kept."""
LONGEST_GAP: Final = 300.0
"""Seconds between two readings, after which the earlier ones say nothing any more."""
AHEAD: Final = 60.0
"""Seconds by which the clock that measures may be ahead of this one."""


class NodeFigures(msgspec.Struct, frozen=True):
    """One entry of the list."""

    class Named(msgspec.Struct, frozen=True):
        """Its metadata."""

        name: str

    metadata: Named
    timestamp: str
    usage: Mapping[str, Amount]


class FiguresRefused(Exception):
    """Why the figures of a node aren't taken."""


def with_reading(
    before: Measurements,
    items: Iterable[bytes],
    nodes: Mapping[str, Node],
    *,
    now: float,
    window: float,
) -> Measurements:
    """The measurements with one more reading; nodes that don't exist are forgotten."""
    found: dict[str, MeasuredUse] = {}
    for item in items:
        name = _name(item)
        node = nodes.get(name)
        if node is not None:
            found[name] = _with(before.of(name), item, node, now=now, window=window)
    silent = {
        name: _silent(known, now=now, window=window)
        for name, known in before.nodes.items()
        if name in nodes and name not in found
    }
    return Measurements(nodes={**silent, **found}, problem="")


def not_read(before: Measurements, problem: str) -> Measurements:
    """The same after a reading that failed: what is known grows old."""
    return msgspec.structs.replace(before, problem=problem)


def _silent(known: MeasuredUse, *, now: float, window: float) -> MeasuredUse:
    samples = _recent(known.samples, now=now, window=window)
    return MeasuredUse(samples=samples, problem=f"{SOURCE} has no figures of it")


def _with(known: MeasuredUse, item: bytes, node: Node, *, now: float, window: float) -> MeasuredUse:
    try:
        sample = _sample(item, node, now=now)
    except FiguresRefused as refused:
        samples = _recent(known.samples, now=now, window=window)
        return MeasuredUse(samples=samples, problem=str(refused))
    if known.samples and sample.at <= known.samples[-1].at:
        # Read more often than it was measured.
        return known
    if known.samples and sample.at - known.samples[-1].at > LONGEST_GAP:
        # What the node did meanwhile isn't known, so its watch begins anew.
        return MeasuredUse(samples=(sample,))
    kept = _spaced(known.samples, spacing=max(CLOSEST, window / MOST_SAMPLES))
    return MeasuredUse(samples=(*_recent(kept, now=now, window=window), sample))


def _spaced(samples: tuple[UseSample, ...], *, spacing: float) -> tuple[UseSample, ...]:
    """Without the last sample, if it follows the one before too closely."""
    if len(samples) > 1 and samples[-1].at - samples[-2].at < spacing:
        return samples[:-1]
    return samples


def _recent(samples: tuple[UseSample, ...], *, now: float, window: float) -> tuple[UseSample, ...]:
    """One sample from before the window stays, which shows that all of it was watched."""
    old = sum(now - each.at > window for each in samples)
    return samples[max(old - 1, 0) :]


def _name(item: bytes) -> str:
    try:
        return msgspec.json.decode(item, type=_Named).metadata.name
    except msgspec.MsgspecError:
        return ""


class _Named(msgspec.Struct, frozen=True):
    metadata: NodeFigures.Named


def _sample(item: bytes, node: Node, *, now: float) -> UseSample:
    try:
        read = msgspec.json.decode(item, type=NodeFigures)
        moment = time_or_none(read.timestamp)
        amounts = {CPU: milli(read.usage[CPU]), MEMORY: units(read.usage[MEMORY])}
    except (msgspec.MsgspecError, ValueError, KeyError):
        raise FiguresRefused(f"its figures in {SOURCE} can't be read") from None
    if moment is None:
        raise FiguresRefused(f"its figures in {SOURCE} have no time that can be read")
    at = moment.timestamp()
    if at > now + AHEAD:
        raise FiguresRefused(f"its figures in {SOURCE} are from the future")
    if min(amounts.values()) < 0:
        raise FiguresRefused(f"its figures in {SOURCE} are negative")
    room = node.allocatable
    if room[CPU] <= 0 or room[MEMORY] <= 0:
        raise FiguresRefused("it doesn't say what it has for pods")
    return UseSample(
        at=at,
        cpu=UsedShare(amounts[CPU], room[CPU]),
        memory=UsedShare(amounts[MEMORY], room[MEMORY]),
    )


def longest_window(pools: Iterable[NodePool]) -> float:
    """For how many seconds the use of nodes has to be known; 0 if no pool goes by it."""
    fields = (pool.spec.scaling.desired for pool in pools)
    return max((each.watched_for for each in fields if each is not None), default=0.0)


@dataclass(kw_only=True)
class UseReader:
    """Keeps the measurements current while this process leads."""

    reads: Reads
    nodes: Callable[[], Mapping[str, Node]]
    window: Callable[[], float]
    """The longest window of a pool in seconds; 0 if no pool goes by measured use."""
    now: Callable[[], Instant]
    changed: Callable[[], None]
    known: Measurements = field(default_factory=Measurements)

    async def run(self) -> None:
        """Read again and again until cancelled."""
        while True:
            if window := self.window():
                await self._read(window)
            else:
                self.known = Measurements()
            await asyncio.sleep(READ_EVERY)

    async def _read(self, window: float) -> None:
        try:
            items = await self.reads.undecoded(PATH)
        except NotFound:
            self._learn(
                not_read(self.known, f"the cluster has no {SOURCE}: install metrics-server")
            )
            return
        except (TimeoutError, GrowthError) as error:
            self._learn(not_read(self.known, f"{SOURCE} can't be read: {error}"))
            return
        seconds = self.now().wall.timestamp()
        self._learn(with_reading(self.known, items, self.nodes(), now=seconds, window=window))

    def _learn(self, measured: Measurements) -> None:
        if measured.problem and measured.problem != self.known.problem:
            _log.warning("no measured use", problem=measured.problem)
        self.known = measured
        self.changed()
