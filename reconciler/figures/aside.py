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

KINDS = (SubjectKind.MACHINE, SubjectKind.POOL, SubjectKind.NODE_CLASS, SubjectKind.POD)


def aside_families(world: World) -> Iterator[Metric]:
    """What is put aside, by kind; the rules that were left out."""
    aside = GaugeMetricFamily(
        "growth_subjects_put_aside",
        "Machines, pools, node classes and pods that growth can't decide about and leaves alone, "
        "because of what is written on them",
        labels=("kind",),
    )
    counted = Counter(each.kind for each in {*world.aside, *world.ledger.aside.subjects})
    for kind in KINDS:
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
