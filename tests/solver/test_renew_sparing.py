"""Few are moved where that is enough, and nobody who goes now comes to where it has to go again."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.shrunk import shrunk
from reconciler.solver import Effort, Offer, Renewal, Renewed
from reconciler.solver.renewal.renew import renew
from tests.solver.renewals import cluster
from tests.solver.test_renew import asked, pod
from tests.solver.test_renew_small import is_right

NEAR = 1.1
MUCH = 16.0
SMALL = Offer(name="small", capacity=(4,), price=40)


def spared(renewal: Renewal) -> Renewed:
    return renew(replace(renewal, near=NEAR, reluctance=MUCH), Effort.NORMAL)


def grief(renewal: Renewal, answer: Renewed) -> float:
    """Money up to the mark; beyond it money and disturbance alike, many times."""
    left = answer.cost - answer.saving
    beyond = max(0.0, left - NEAR * answer.bound)
    return left - beyond + MUCH * (beyond + answer.disturbance)


def disturbing(renewal: Renewal, each: int) -> Renewal:
    standing = (replace(n, disturbance=each * sum(n.holds.values())) for n in renewal.standing)
    return replace(renewal, standing=tuple(standing))


@pytest.mark.parametrize("seed", range(12))
def test_it_grieves_and_disturbs_no_more_than_whoever_saves_what_can_be_saved(seed: int) -> None:
    renewal = replace(cluster(random.Random(f"spared {seed}"), grouped=False), most={})
    plain, answer = renew(renewal, Effort.NORMAL), spared(renewal)
    assert grief(renewal, answer) <= grief(renewal, plain) * 1.000001
    assert answer.disturbance <= plain.disturbance


@given(chance=st.randoms(use_true_random=False), grouped=st.booleans())
@settings(max_examples=10, deadline=None)
def test_whatever_the_cluster_it_keeps_every_rule_and_ceiling(
    chance: random.Random, *, grouped: bool
) -> None:
    renewal = cluster(chance, grouped=grouped)
    is_right(renewal, spared(renewal))


NEARLY = asked(
    ("full", 40, 0, {"web": 4}),
    ("even", 40, 0, {"web": 4}),
    ("dear", 46, 0, {"web": 4}),
    sold=(SMALL,),
    web=pod(),
)
"""126 where 120 is the least: within a tenth."""


def test_the_last_tenth_is_not_worth_moving_pods_for() -> None:
    renewal = disturbing(NEARLY, 1)
    assert renew(renewal, Effort.QUICK).goes == ("dear",)
    assert spared(renewal).goes == ()


def test_what_disturbs_nobody_goes_all_the_same() -> None:
    assert spared(NEARLY).goes == ("dear",)


def test_a_dear_cluster_is_brought_near_by_moving_the_fewest() -> None:
    # Four of small pods or one of large ones: either half makes room for the other.
    renewal = asked(
        ("many", 40, 4, {"web": 4}), ("few", 40, 4, {"big": 2}),
        sold=(replace(SMALL, capacity=(8,)),), web=pod(), big=pod(2, "big"),
    )  # fmt: skip
    assert spared(disturbing(renewal, 1)).goes == ("few",)


def crowd() -> Renewal:
    return shrunk(prices="hetzner", pods="heavy", count=300, left=0.4, eviction=0.1, seed=1)


def test_fewer_are_moved_and_the_cluster_is_near_all_the_same() -> None:
    renewal = crowd()
    counts = {node.offer: sum(node.holds.values()) for node in renewal.standing}
    plain = renew(renewal, Effort.QUICK)
    found = renew(replace(renewal, near=NEAR, reluctance=MUCH), Effort.QUICK)
    assert found.cost - found.saving <= NEAR * found.bound
    assert sum(map(counts.__getitem__, found.goes)) < sum(map(counts.__getitem__, plain.goes))


def test_those_that_go_first_leave_the_others_of_the_same_plan_alone() -> None:
    renewal = crowd()
    renewal = replace(renewal, near=NEAR, reluctance=MUCH)
    all_of_them = set(renew(renewal, Effort.QUICK).goes)
    first = renew(replace(renewal, most={"default": 3}), Effort.QUICK)
    assert 0 < len(first.goes) <= 3
    assert set(first.goes) <= all_of_them
    assert all_of_them.isdisjoint(node.offer for node in first.plan.nodes)


def test_what_may_not_go_yet_stays_and_the_others_of_the_plan_go() -> None:
    renewal = asked(
        ("now", 40, 3, {"web": 1}), ("later", 40, 3, {"web": 1}), ("stays", 10, 4, {"web": 1}),
        sold=(SMALL,), web=pod(),
    )  # fmt: skip
    standing = tuple(
        replace(node, group="restless" if node.offer == "later" else "pool")
        for node in renewal.standing
    )
    answer = spared(replace(renewal, standing=standing, most={"restless": 0}))
    assert answer.goes == ("now",)
    assert [node.offer for node in answer.plan.nodes] == ["stays"]
