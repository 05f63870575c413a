"""What moving costs, and when it pays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.replacement.worth import disturbance, pays
from tests.scheduling import build

HOURLY = 1_200_000


@pytest.mark.parametrize(
    ("pods", "priority", "share"),
    [(0, 0, 0), (1, 0, 60), (12, 0, 5), (12, -5, 5), (6, 1_000_000, 1), (6, 2_000_000_000, 1)],
)
def test_an_eviction_costs_a_minute_of_its_node_and_more_if_it_matters_more(
    pods: int, priority: int, share: int
) -> None:
    evicted = [build.pod(f"web-{n}", priority=priority) for n in range(pods)]
    assert disturbance(HOURLY, evicted) == (HOURLY // share if share else 0)


@pytest.mark.parametrize(
    ("before", "after", "disturbed", "expected"),
    [
        (100, 0, 99, True),
        (100, 0, 100, False),
        (100, 90, 0, True),
        (100, 91, 0, False),
        (100, 100, 0, False),
        (100, 120, 0, False),
        (3000, 1500, 1449, True),
        (3000, 1500, 1450, False),
        (0, 0, 0, False),
    ],
)
def test_it_pays_if_an_hour_pays_it_back_and_it_is_more_than_a_tenth(
    before: int, after: int, disturbed: int, *, expected: bool
) -> None:
    assert pays(before=before, after=after, disturbed=disturbed) is expected


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_two_swaps_that_undo_each_other_never_both_pay(
    one: int, other: int, disturbed: int
) -> None:
    there = pays(before=one, after=other, disturbed=disturbed)
    back = pays(before=other, after=one, disturbed=disturbed)
    assert not (there and back)
