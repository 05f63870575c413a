"""How long one pass over many workloads takes that have an Hvpa.

Each has five pods of two containers, an HPA that only measures and a VPA. Only the rule is
measured; a process would also read and write.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Margin, Sized
from sizing.rule.applying import ApplyRules, SizedPod, SizedWorkload
from sizing.rule.blocking import ScaleRules
from sizing.rule.intervals import IntervalEntry, effective_intervals
from sizing.rule.sizing import SizingRules
from sizing.rule.workload import (
    HpaReading,
    SizingMemory,
    SizingSight,
    VpaReading,
    size_pass,
)

if TYPE_CHECKING:
    import argparse

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
GIBIBYTE: Final = 1 << 30
PODS: Final = 5
ROUNDS: Final = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--count", type=int, default=1000, help="workloads")


def run(arguments: argparse.Namespace) -> None:
    """Measure passes in which most workloads stay and passes in which all change."""
    rules = _rules()
    for title, percent in (("at rest", 100), ("all change", 140)):
        sights = [_sight(number, percent) for number in range(arguments.count)]
        best = min(_pass(rules, sights) for _ in range(ROUNDS))
        print(f"{arguments.count} workloads, {title}: {best * 1000:.0f} ms")


def _pass(rules: SizingRules, sights: list[SizingSight]) -> float:
    applying, memory = ApplyRules(), SizingMemory()
    begun = time.process_time()
    for sight in sights:
        size_pass(rules, applying, sight, memory, NOW)
    return time.process_time() - begun


def _rules() -> SizingRules:
    entries = [
        IntervalEntry(
            max_replicas=count,
            max_per_pod={
                CPU: Fraction(1000 * 2**count // 4),
                MEMORY: Fraction(GIBIBYTE * 2**count),
            },
        )
        for count in range(1, 11)
    ]
    overlap = {name: Margin(percentage=Fraction(30)) for name in (CPU, MEMORY)}
    least = {CPU: Margin(value=Fraction(200)), MEMORY: Margin(value=Fraction(200_000_000))}
    scale = ScaleRules(min_change=least)
    return SizingRules(
        intervals=effective_intervals(entries, overlap=overlap, floor={}),
        scale_up=scale,
        scale_down=scale,
    )


def _sight(number: int, percent: int) -> SizingSight:
    """A workload whose sources recommend this share of what it has."""
    requests = {
        Sized(container, resource): amount + number
        for container in ("main", "proxy")
        for resource, amount in ((CPU, 4000), (MEMORY, 16 * GIBIBYTE))
    }
    targets = {part: Fraction(amount * percent, 100) for part, amount in requests.items()}
    pods = tuple(SizedPod(name=f"pod-{place}", requests=requests) for place in range(PODS))
    return SizingSight(
        workload=SizedWorkload(replicas=PODS, pods=pods),
        hpa=HpaReading(totals={part: target * PODS for part, target in targets.items()}),
        vpa=VpaReading(targets=targets, conditions={"RecommendationProvided": "True"}, samples=99),
    )
