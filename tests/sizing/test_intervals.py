"""Intervals of totals: the seed's tables, and what holds for any spec."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Margin
from sizing.rule.intervals import EntryDefaults, IntervalEntry, count_range, effective_intervals
from tests.sizing.build import EXAMPLE, GIBIBYTE, THIRTY_PERCENT, cores, entry, gibibytes

MOST: list[tuple[int, float, float]] = [
    (1, 0.5, 2),
    (2, 2, 8),
    (3, 6, 24),
    (4, 16, 64),
    (5, 40, 160),
]
OVERLAPPED = [(1, 0.125, 0.5), (2, 0.35, 1.4), (3, 1.4, 5.6), (4, 4.2, 16.8), (5, 11.2, 44.8)]


def test_the_maxima_are_totals_of_all_replicas() -> None:
    found = effective_intervals(EXAMPLE, overlap={}, floor={})
    assert [
        (e.replicas, float(e.most[CPU] / 1000), float(e.most[MEMORY] / GIBIBYTE)) for e in found
    ] == MOST


def test_the_minima_lie_below_the_maxima_of_the_interval_before() -> None:
    floor = {CPU: cores(0.125), MEMORY: gibibytes(0.5)}
    found = effective_intervals(EXAMPLE, overlap=THIRTY_PERCENT, floor=floor)
    least = [
        (e.replicas, float(e.least[CPU] / 1000), float(e.least[MEMORY] / GIBIBYTE)) for e in found
    ]
    assert least == OVERLAPPED


def test_an_entry_for_several_replicas_divides_its_total_evenly() -> None:
    found = effective_intervals([entry(1, 1), entry(5, 20, how="linear")], overlap={}, floor={})
    assert [float(e.most[CPU] / 1000) for e in found] == [1, 25.75, 50.5, 75.25, 100]


def test_replicas_alone_scale_where_the_size_is_fixed() -> None:
    found = effective_intervals([entry(5, 0.5, how="horizontalOnly")], overlap={}, floor={})
    assert [(e.replicas, float(e.most[CPU] / 1000)) for e in found] == [
        (1, 0.5),
        (2, 1),
        (3, 1.5),
        (4, 2),
        (5, 2.5),
    ]
    assert {e.most_per_pod[CPU] for e in found} == {cores(0.5)}


def test_sizes_alone_scale_with_a_single_interval() -> None:
    (only,) = effective_intervals([entry(2, 4, 16)], overlap={}, floor={})
    assert (only.replicas, only.most[CPU], only.most[MEMORY]) == (2, cores(8), gibibytes(32))


def test_an_entry_takes_from_hpa_and_vpa_what_it_leaves_out() -> None:
    defaults = EntryDefaults(max_replicas=7, max_per_pod={CPU: cores(8)})
    assert defaults.completed(None, None).max_replicas == 7
    assert defaults.completed(3, {CPU: cores(1)}).max_per_pod == {CPU: cores(1)}
    with pytest.raises(ValueError, match="maxReplicas"):
        EntryDefaults().completed(None, {CPU: cores(1)})
    with pytest.raises(ValueError, match="maxAllowed"):
        EntryDefaults().completed(1, None)


@st.composite
def specs(draw: st.DrawFn) -> list[IntervalEntry]:
    """Entries whose totals rise, as a spec must have them."""
    entries: list[IntervalEntry] = []
    replicas, total = 0, Fraction(0)
    for _ in range(draw(st.integers(1, 4))):
        how = draw(st.sampled_from(["single", "linear", "horizontalOnly"]))
        least = replicas + 1
        replicas += draw(st.integers(1, 4))
        # The smallest pod whose first total is above the total before.
        per_pod = int(total // least) + draw(st.integers(1, 5000))
        entries.append(entry(replicas, per_pod / 1000, how=how))
        total = Fraction(per_pod * replicas)
    return entries


margins = st.builds(
    Margin,
    value=st.none() | st.integers(0, 3000).map(Fraction),
    percentage=st.none() | st.integers(0, 100).map(Fraction),
)


@given(specs(), margins, st.integers(0, 100_000).map(Fraction))
def test_intervals_of_any_spec_leave_no_gap(
    entries: list[IntervalEntry], overlap: Margin, total: Fraction
) -> None:
    found = effective_intervals(entries, overlap={CPU: overlap}, floor={})
    for lower, upper in itertools.pairwise(found):
        assert lower.replicas < upper.replicas
        assert lower.most[CPU] < upper.most[CPU]
        assert lower.least[CPU] <= upper.least[CPU] <= lower.most[CPU]
    suits = count_range(found, CPU, total)
    assert suits is not None
    assert found[0].replicas <= suits.fewest <= suits.highest <= found[-1].replicas


@given(specs(), margins, st.lists(st.integers(0, 100_000).map(Fraction), min_size=2))
def test_the_way_up_knows_no_overlap(
    entries: list[IntervalEntry], overlap: Margin, totals: list[Fraction]
) -> None:
    """From the fewest replicas, a rising load reaches the same number as without an overlap."""
    plain = effective_intervals(entries, overlap={}, floor={})
    wide = effective_intervals(entries, overlap={CPU: overlap}, floor={})
    current = [plain[0].replicas, wide[0].replicas]
    for total in sorted(totals):
        ranges = [count_range(each, CPU, total) for each in (plain, wide)]
        current = [r.nearest(now) for r, now in zip(ranges, current, strict=True) if r]
        assert current[0] == current[1]


@given(specs(), margins, st.lists(st.integers(0, 100_000).map(Fraction), min_size=1))
def test_each_direction_ends_at_the_same_replicas_by_any_way(
    entries: list[IntervalEntry], overlap: Margin, totals: list[Fraction]
) -> None:
    found = effective_intervals(entries, overlap={CPU: overlap}, floor={})
    for way, start in ((sorted(totals), found[0]), (sorted(totals)[::-1], found[-1])):
        current = start.replicas
        for total in way:
            suits = count_range(found, CPU, total)
            assert suits is not None
            current = suits.nearest(current)
        in_one_jump = count_range(found, CPU, way[-1])
        assert in_one_jump is not None
        assert current == in_one_jump.nearest(start.replicas)
