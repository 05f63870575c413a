"""Counts effects by kind, when they begin and when they succeed.

The difference is what has failed or is in progress. A new kind of effect needs no change here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import prometheus_client as prometheus

from reconciler.effects.points import Side

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from reconciler.effects.points import Point


class EffectFigures:
    """The counters of begun and successful effects."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._begun = prometheus.Counter(
            "growth_effects_begun",
            "Steps that were started: writes, orders to a provider, evictions, problems for the "
            "solver",
            ("effect",),
            registry=registry,
        )
        self._done = prometheus.Counter(
            "growth_effects_done",
            "Steps that succeeded; other started steps have failed or are in progress",
            ("effect",),
            registry=registry,
        )

    def count(self, point: Point) -> None:
        """Count one side of an effect."""
        # The step of a status contains the phase; its first word is the effect.
        effect = point.step.partition(" ")[0]
        match point.side:
            case Side.BEFORE:
                self._begun.labels(effect).inc()
            case Side.AFTER:
                self._done.labels(effect).inc()
            case _:
                assert_never(point.side)
