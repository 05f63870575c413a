"""Rules, recommendations and decisions for tests: one container, in cores and gibibytes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from growth.api.hvpa import Extrapolation
from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Margin, Sized
from sizing.rule.blocking import Occasion, ScaleRules
from sizing.rule.intervals import IntervalEntry, effective_intervals
from sizing.rule.sizing import (
    PresentSize,
    Recommendation,
    SizeSource,
    SizingRules,
    size_of_workload,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sizing.rule.amounts import Margins, Sizes
    from sizing.rule.sizing import SizeDecision

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MAIN = Sized("main", CPU)
HEAP = Sized("main", MEMORY)
GIBIBYTE = 1 << 30
AT_ONCE = ScaleRules(min_change={})
THIRTY_PERCENT = {name: Margin(percentage=Fraction(30)) for name in (CPU, MEMORY)}


def cores(amount: float | str) -> Fraction:
    return Fraction(Decimal(str(amount))) * 1000


def gibibytes(amount: float | str) -> Fraction:
    return Fraction(Decimal(str(amount))) * GIBIBYTE


def entry(
    replicas: int, cpu: float, memory: float | None = None, how: str = "single"
) -> IntervalEntry:
    sizes = {CPU: cores(cpu)} | ({} if memory is None else {MEMORY: gibibytes(memory)})
    return IntervalEntry(max_replicas=replicas, max_per_pod=sizes, extrapolation=Extrapolation(how))


EXAMPLE = (entry(1, 0.5, 2), entry(2, 1, 4), entry(3, 2, 8), entry(4, 4, 16), entry(5, 8, 32))
"""The seed's example."""


def rules(*entries: IntervalEntry, overlap: Margins = THIRTY_PERCENT, **more: Any) -> SizingRules:
    floor = {part.resource: each for part, each in more.get("min_allowed", {}).items()}
    intervals = effective_intervals(entries or EXAMPLE, overlap=overlap, floor=floor)
    parts: dict[str, Any] = {"scale_up": AT_ONCE, "scale_down": AT_ONCE} | more
    return SizingRules(intervals=intervals, **parts)


def vpa(**totals: Fraction) -> Recommendation:
    return Recommendation(source=SizeSource.VPA, totals=_parts(totals))


def hpa(**totals: Fraction) -> Recommendation:
    return Recommendation(source=SizeSource.HPA, totals=_parts(totals))


def blind(source: SizeSource) -> Recommendation:
    return Recommendation(source=source, doubt="it says nothing")


def running(
    replicas: int, cpu: float = 0.1, memory: float | None = None, **more: Any
) -> PresentSize:
    requests = {MAIN: cores(cpu)} | ({} if memory is None else {HEAP: gibibytes(memory)})
    return PresentSize(replicas=replicas, requests=requests, **more)


def decided(
    present: PresentSize,
    *said: Recommendation,
    by: SizingRules | None = None,
    at: Occasion | None = None,
) -> SizeDecision:
    return size_of_workload(by or rules(), present, said, at or Occasion(now=NOW))


def after(minutes: float, **more: Any) -> Occasion:
    """So many minutes after the last change."""
    return Occasion(now=NOW, last_scaled=NOW - timedelta(minutes=minutes), **more)


def cpu_of(found: SizeDecision) -> float:
    """Cores of one pod."""
    return found.size.requests[MAIN] / 1000


def _parts(totals: dict[str, Fraction]) -> Sizes:
    return {Sized("main", name): total for name, total in totals.items()}


def applied(found: SizeDecision) -> PresentSize:
    """The workload as it has been decided."""
    requests = {part: Fraction(each) for part, each in found.size.requests.items()}
    return PresentSize(replicas=found.size.replicas, requests=requests, held=found.held)


def replicas_along(loads: Sequence[float], *, by: SizingRules) -> list[int]:
    """The replicas after each load, with a VPA that recommends exactly the load."""
    present, found = running(1, cpu=loads[0]), []
    for load in loads:
        present = applied(decided(present, vpa(cpu=cores(load)), by=by))
        found.append(present.replicas)
    return found
