"""Metrics of subjects that are put aside, and of rules that were left out of the last pass."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from reconciler.core.actions import SubjectKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric

    from reconciler.core.world import World


def aside_families(world: World) -> Iterator[Metric]:
    """What is put aside, by kind; the rules that were left out."""
    aside = GaugeMetricFamily(
        "growth_subjects_put_aside",
        "Machines, pools, node classes, pods and lanes of the solver that growth leaves alone, "
        "because a rule fails on what is written on them, or carrying something out has crashed",
        labels=("kind",),
    )
    counted = Counter(each.kind for each in {*world.aside, *world.ledger.aside.subjects})
    for kind in SubjectKind:
        aside.add_metric((kind.value,), counted[kind])
    yield aside
    failing = GaugeMetricFamily(
        "growth_rules_left_out",
        "1 for each rule that fails and was left out of the last pass",
        labels=("rule",),
    )
    for rule in sorted(world.ledger.aside.failing):
        failing.add_metric((rule,), 1)
    yield failing
