"""Metrics of renewals: searches for nodes that could be replaced by cheaper ones, or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import prometheus_client as prometheus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from reconciler.solver.model.renewal import Renewed

MILLION = 1_000_000


class RenewalFigures:
    """The metrics of renewals; the caller counts each answer once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = prometheus.Counter(
            "growth_renewals",
            "Searches for nodes that could go: change if some should, none if all should stay",
            ("outcome",),
            registry=registry,
        )
        self._saving = prometheus.Counter(
            "growth_renewal_saving_per_hour",
            "Saving per hour, in the provider's currency, if all answers are carried out",
            registry=registry,
        )
        self._cost = prometheus.Gauge(
            "growth_renewal_cost_per_hour",
            "Cost per hour of the nodes in the last search for a replacement",
            registry=registry,
        )
        self._bound = prometheus.Gauge(
            "growth_renewal_bound_per_hour",
            "Lower bound of the cost per hour if machines for all their pods were bought again",
            registry=registry,
        )

    def count(self, renewed: Renewed) -> None:
        """Count an answer."""
        self._answers.labels("change" if renewed.goes else "none").inc()
        self._saving.inc(max(renewed.saving, 0) / MILLION)
        self._cost.set(renewed.cost / MILLION)
        self._bound.set(renewed.bound / MILLION)
