"""Health and metrics as the front shows them: what it was told, and its own.

If the front hears nothing for some seconds, the process that answers the scheduler is stuck. That
process can't say so itself, therefore each message counts as its heartbeat.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from growth.service.event_loop import SILENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from extender.front.messages import ToldCondition, ToldFamily
    from growth.service.health import HealthVerdict, ProcessHealth


class FrontHealth:
    """The health of both processes, as if they were one."""

    def __init__(self, own: ProcessHealth) -> None:
        self._own = own
        self._pulse = own.pulse("event loop", limit=SILENCE)
        self._liveness: tuple[HealthVerdict, ...] = ()
        self._readiness: tuple[HealthVerdict, ...] = ()

    def beat(self) -> None:
        """Note that something was heard."""
        self._pulse.beat()

    def hear(self, told: ToldCondition) -> None:
        """Note the health of the other process."""
        self._liveness, self._readiness = told.liveness, told.readiness

    def liveness(self) -> tuple[HealthVerdict, ...]:
        """The results of all pulses."""
        return _joined(self._liveness, self._own.liveness())

    def readiness(self) -> tuple[HealthVerdict, ...]:
        """The results of all checks."""
        return _joined(self._readiness, self._own.readiness())


def _joined(
    told: Iterable[HealthVerdict], own: Iterable[HealthVerdict]
) -> tuple[HealthVerdict, ...]:
    """One verdict for each name: a bad one if there is any."""
    found: dict[str, HealthVerdict] = {}
    for verdict in itertools.chain(told, own):
        if verdict.name not in found or not verdict.good:
            found[verdict.name] = verdict
    return tuple(found.values())


class ToldMetrics(Collector):
    """The metrics of both processes; if both have one, its samples stand together."""

    def __init__(self, own: CollectorRegistry) -> None:
        self._own = own
        self._told: tuple[ToldFamily, ...] = ()

    def hear(self, told: tuple[ToldFamily, ...]) -> None:
        """Note the metrics of the other process."""
        self._told = told

    @override
    def collect(self) -> Iterator[Metric]:
        found: dict[str, Metric] = {}
        for metric in itertools.chain(map(_family, self._told), self._own.collect()):
            if metric.name in found:
                found[metric.name].samples += metric.samples
            else:
                found[metric.name] = metric
        yield from found.values()

    def restricted_registry(self, names: Iterable[str]) -> Collector:
        """Only samples with these names, as a registry of the client library does it."""
        return _OnlyThese(self, frozenset(names))


class _OnlyThese(Collector):
    def __init__(self, whole: Collector, names: frozenset[str]) -> None:
        self._whole = whole
        self._names = names

    @override
    def collect(self) -> Iterator[Metric]:
        for metric in self._whole.collect():
            metric.samples = [each for each in metric.samples if each.name in self._names]
            if metric.samples:
                yield metric


def _family(told: ToldFamily) -> Metric:
    metric = Metric(told.name, told.documentation, told.sort)
    for each in told.samples:
        metric.add_sample(each.name, each.labels, each.value)
    return metric
