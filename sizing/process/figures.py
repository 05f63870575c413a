"""Metrics of sizing: what holds Hvpas up, which sources are blind, and what was done."""

from __future__ import annotations

from collections import Counter as Counts
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import CollectorRegistry

    from growth.api.hvpa_status import HvpaStatus
    from sizing.core.actions import SizingAction


class SizingFigures:
    """The metrics of sizing; create this once per process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._hvpas = Gauge(
            "growth_sizing_hvpas",
            "Hvpas by what holds a change up, such as MinChange; empty if nothing does",
            ["reason"],
            registry=registry,
        )
        self._doubted = Gauge(
            "growth_sizing_sources_doubted",
            "Hvpas whose source (HPA, VPA) isn't believed",
            ["source"],
            registry=registry,
        )
        self._leading = Gauge(
            "growth_sizing_leader",
            "1 if this process sizes workloads, otherwise 0",
            registry=registry,
        )
        self._use_known = Gauge(
            "growth_sizing_use_known",
            "1 if the use of pods could be read last time; memory limits aren't lowered without it",
            registry=registry,
        )
        self._actions = Counter(
            "growth_sizing_actions",
            "Actions for Hvpas, such as TellStatus, by result (done, failed)",
            ["action", "result"],
            registry=registry,
        )

    def leads(self, *, is_leader: bool) -> None:
        """Show whether this process is the leader. Others show no Hvpas."""
        self._leading.set(is_leader)
        if not is_leader:
            self._hvpas.clear()
            self._doubted.clear()

    def show(self, statuses: Iterable[HvpaStatus], *, use_problem: str) -> None:
        """Show what the statuses of all Hvpas say."""
        told = list(statuses)
        reasons = Counts(each.blocked.reason if each.blocked else "" for each in told)
        doubted = Counts(
            source.name.value for each in told for source in each.sources if not source.trusted
        )
        for gauge, counts in ((self._hvpas, reasons), (self._doubted, doubted)):
            gauge.clear()
            for label, count in counts.items():
                gauge.labels(label).set(count)
        self._use_known.set(not use_problem)

    def did(self, action: SizingAction, *, result: str) -> None:
        """Count an action."""
        self._actions.labels(action=type(action).__name__, result=result).inc()
