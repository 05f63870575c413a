"""What moving costs, and when it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.replacement.worth import OccupiedNode, disturbances, pays
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod

HOURLY = 1_000_000
NODE = build.node("one", cpu="4", memory="16Gi")


def occupied(*pods: Pod) -> OccupiedNode:
    return OccupiedNode(HOURLY, NODE, pods)


@pytest.mark.parametrize(
    ("cpu", "priority", "share"),
    [
        ("4", 0, 0.1),
        ("2", 0, 0.05),
        ("2", -5, 0.05),
        ("0", 0, 0.1 / 110),
        ("400m", 1_000_000, 0.1),
        ("400m", 2_000_000_000, 0.1),
    ],
)
def test_an_eviction_costs_six_minutes_of_what_it_uses_and_more_if_it_matters_more(
    cpu: str, priority: int, share: float
) -> None:
    evicted = build.pod("web-0", requests={"cpu": cpu}, priority=priority)
    assert disturbances([occupied(evicted)]) == [pytest.approx(HOURLY * share, abs=1)]


def test_many_small_pods_disturb_more_than_a_large_one() -> None:
    small = [build.pod(f"web-{n}", requests={"cpu": "200m"}) for n in range(20)]
    large = build.pod("db-0", requests={"cpu": "4"})
    many, one = disturbances([occupied(*small), occupied(large)])
    assert many == pytest.approx(20 * one, rel=0.001)
    assert many + one == pytest.approx(2 * HOURLY * 0.1, abs=2)


def test_nodes_without_pods_disturb_nobody() -> None:
    assert disturbances([occupied(), occupied()]) == [0, 0]


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
