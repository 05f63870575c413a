"""Metrics of plans: their quality and their time.

Costs are summed over plans. So the ratio of two sums shows how far all plans together are above the
proven bound, or below the cost of first-fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import prometheus_client as prometheus

from reconciler.figures.renewals import RenewalFigures
from reconciler.solver import Plan, Renewed

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from reconciler.core.actions import Solved
    from reconciler.core.world import World

MILLION = 1_000_000
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)
GAPS = (0.0, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25)


class PlanFigures:
    """The metrics of plans; each plan counts once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seen: dict[str, Solved] = {}
        self._renewals = RenewalFigures(registry)
        self._plans = prometheus.Counter(
            "growth_plans",
            "Plans of the solver, by what stopped the search",
            ("lane", "stop"),
            registry=registry,
        )
        self._seconds = prometheus.Histogram(
            "growth_plan_seconds",
            "Time that the solver took for a plan",
            ("lane",),
            buckets=SECONDS,
            registry=registry,
        )
        self._gap = prometheus.Histogram(
            "growth_plan_gap_ratio",
            "Relative difference between a plan's cost and its proven bound: 0.01 is one percent",
            ("lane",),
            buckets=GAPS,
            registry=registry,
        )
        self._unplaced = prometheus.Counter(
            "growth_plan_unplaced_pods",
            "Pods without a place in a plan; a pod counts in each plan",
            ("lane",),
            registry=registry,
        )
        self._cost = prometheus.Counter(
            "growth_planned_cost_per_hour",
            "Cost per hour of all planned machines; plans in several currencies don't count",
            ("lane",),
            registry=registry,
        )
        self._bound = prometheus.Counter(
            "growth_planned_bound_per_hour",
            "Proven lower bound of the cost per hour, for the same plans",
            ("lane",),
            registry=registry,
        )
        self._first_fit = prometheus.Counter(
            "growth_planned_first_fit_per_hour",
            "Cost per hour of first-fit, for the same plans",
            ("lane",),
            registry=registry,
        )

    def look(self, world: World) -> None:
        """Count new plans."""
        for lane, solved in world.plans.items():
            if self._seen.get(lane) is not solved:
                self._seen[lane] = solved
                self._answered(lane, solved.plan)

    def _answered(self, lane: str, answer: Plan | Renewed) -> None:
        self._seconds.labels(lane).observe(answer.seconds)
        match answer:
            case Plan():
                self._count(lane, answer)
            case Renewed():
                self._renewals.count(answer)
            case _:
                assert_never(answer)

    def _count(self, lane: str, plan: Plan) -> None:
        self._plans.labels(lane, plan.stop.name.lower()).inc()
        self._unplaced.labels(lane).inc(sum(each.count for each in plan.unplaced))
        if not plan.is_in_one_currency:
            return
        self._gap.labels(lane).observe(plan.gap)
        self._cost.labels(lane).inc(plan.cost / MILLION)
        self._bound.labels(lane).inc(plan.bound / MILLION)
        self._first_fit.labels(lane).inc(plan.first_fit_cost / MILLION)
