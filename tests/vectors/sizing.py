"""Amounts, intervals and decisions of rows about the sizes of workloads.

Rows write amounts in many units: cpu_milli and memory in bytes, cpu in cores, memory_gi and
memory_g. Here all of them are exact, in the units of the product.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from growth.api.hvpa import Extrapolation
from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Margin
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
    from collections.abc import Iterable, Mapping, Sequence

    from sizing.rule.amounts import Amounts, Margins, Sizes
    from sizing.rule.intervals import EffectiveInterval
    from sizing.rule.sizing import SizeDecision
    from tests.vectors.rows import Json

CORE: Final = Fraction(1000)
GIBIBYTE, GIGABYTE = 1 << 30, 10**9
UNITS: Final = {
    "cpu": (CPU, 1000),
    "cpu_milli": (CPU, 1),
    "memory": (MEMORY, 1),
    "memory_gi": (MEMORY, GIBIBYTE),
    "memory_g": (MEMORY, GIGABYTE),
}
NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)


def exact(number: Any) -> Fraction:
    """A number of a row as it is written, not as a binary fraction."""
    return Fraction(Decimal(str(number)))


def amounts(row: Json) -> dict[str, Fraction]:
    """Amounts by resource."""
    return {
        resource: exact(row[name]) * unit
        for name, (resource, unit) in UNITS.items()
        if row.get(name) is not None
    }


def margin(row: Json, *, unit: int = 1) -> Margin:
    """An absolute value, of which `value` is in the given unit, and a percentage."""
    units = {"value": unit, "value_milli": 1, "value_gi": GIBIBYTE, "value_g": GIGABYTE}
    values = [exact(row[name]) * unit for name, unit in units.items() if row.get(name)]
    share = row.get("percentage")
    return Margin(
        value=values[0] if values else None, percentage=None if share is None else exact(share)
    )


def margins_of(row: Json | None) -> Margins:
    """By resource, or one for all resources."""
    if not row:
        return {}
    if CPU not in row and MEMORY not in row:
        return {CPU: margin(row), MEMORY: margin(row)}
    return {name: margin(each, unit=1000 if name == CPU else 1) for name, each in row.items()}


def entries_of(
    rows: Sequence[Json], *, several: Extrapolation = Extrapolation.SINGLE
) -> list[IntervalEntry]:
    """Entries of a spec; `several` is for those that stand for more than one interval."""
    found: list[IntervalEntry] = []
    for row in rows:
        replicas = found[-1].max_replicas if found else 0
        is_one = row["max_replicas"] == replicas + 1
        found.append(
            IntervalEntry(
                max_replicas=row["max_replicas"],
                max_per_pod=amounts(row),
                extrapolation=Extrapolation.SINGLE
                if is_one and several is Extrapolation.LINEAR
                else several,
            )
        )
    return found


EXAMPLE: Final = entries_of(
    [
        {"max_replicas": count, "cpu": 2 ** (count - 2), "memory_gi": 2**count}
        for count in range(1, 6)
    ]
)
"""The seed's example."""


def rules_of(
    entries: Sequence[IntervalEntry], *, overlap: Margins | None = None, **more: Any
) -> SizingRules:
    """Rules without a least change, unless the row has one."""
    floor = more.pop("floor", {})
    at_once = ScaleRules(min_change={})
    parts = {"scale_up": at_once, "scale_down": at_once} | more
    intervals = effective_intervals(entries, overlap=overlap or {}, floor=floor)
    return SizingRules(intervals=intervals, **parts)


def decided(
    rules: SizingRules,
    *,
    replicas: int = 1,
    requests: Sizes | None = None,
    vpa: Sizes | None = None,
    hpa: Sizes | None = None,
    limits: Sizes | None = None,
) -> SizeDecision:
    """What the product decides on these totals."""
    said = {SizeSource.VPA: vpa, SizeSource.HPA: hpa}
    parts = {part for totals in said.values() for part in totals or ()}
    return size_of_workload(
        rules,
        PresentSize(
            replicas=replicas,
            requests=requests or dict.fromkeys(parts, Fraction(1)),
            limits=limits or {},
        ),
        [Recommendation(source=one, totals=totals) for one, totals in said.items() if totals],
        Occasion(now=NOON),
    )


def shown(found: Amounts, *, in_gigabytes: bool = False) -> Json:
    """Cores, and gibibytes or gigabytes of memory."""
    name, unit = ("memory_g", GIGABYTE) if in_gigabytes else ("memory_gi", GIBIBYTE)
    names = {CPU: ("cpu", 1000), MEMORY: (name, unit)}
    return {names[key][0]: float(each / names[key][1]) for key, each in found.items()}


def in_milli(found: Mapping[str, int]) -> Json:
    """Thousandths of cores, and bytes."""
    return {("cpu_milli" if name == CPU else name): each for name, each in found.items()}


def totals_shown(
    intervals: Iterable[EffectiveInterval], *, of: str = "most", in_gigabytes: bool = False
) -> list[Json]:
    """The totals of intervals, one bound of each."""
    return [
        {"replicas": each.replicas, **shown(getattr(each, of), in_gigabytes=in_gigabytes)}
        for each in intervals
    ]
