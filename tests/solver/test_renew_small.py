"""Clusters of a few nodes: what goes is the best of all sets, and its plan keeps every rule."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.solver import (
    HOSTNAME,
    Effort,
    Near,
    Offer,
    PodClass,
    Problem,
    RenewableNode,
    Renewal,
)
from reconciler.solver.renewal.renew import renew, unchanged
from tests.solver.checker import complaints
from tests.solver.renewals import allowed_sets, best_gain, cluster, followed, moving

if TYPE_CHECKING:
    from reconciler.solver import Renewed

BATCH = 15


def drawn(seed: int, *, grouped: bool) -> Renewal:
    return cluster(random.Random(f"cluster {seed}"), grouped=grouped)


def is_right(renewal: Renewal, answer: Renewed) -> None:
    """Everything that must hold of an answer, judged from the words of the question."""
    gone = [node for node in renewal.standing if node.offer in set(answer.goes)]
    problem = moving(renewal, answer.goes)
    assert complaints(problem, answer.plan) == []
    assert answer.plan.unplaced == ()
    assert answer.saving == sum(node.price for node in gone) - answer.plan.cost
    assert answer.disturbance == sum(node.disturbance for node in gone)
    assert answer.cost == sum(node.price for node in renewal.standing)
    assert tuple(gone) in list(allowed_sets(renewal))
    assert answer.gain > 0 or answer == replace(
        unchanged(renewal), bound=answer.bound, effort=answer.effort
    )


def is_best(renewal: Renewal) -> None:
    answer = renew(renewal, Effort.NORMAL)
    is_right(renewal, answer)
    assert answer.gain == best_gain(renewal)


@pytest.mark.parametrize("start", range(0, 30, BATCH))
def test_what_goes_of_a_few_nodes_is_the_best_of_all_sets(start: int) -> None:
    for seed in range(start, start + BATCH):
        is_best(drawn(seed, grouped=False))


def test_what_was_tried_leaves_no_trace_in_what_is_tried_next() -> None:
    is_best(drawn(1527, grouped=False))


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 1900, BATCH))
def test_what_goes_of_many_small_clusters_is_the_best_of_all_sets(start: int) -> None:
    for seed in range(start, start + BATCH):
        is_best(drawn(seed, grouped=False))


@given(chance=st.randoms(use_true_random=False), grouped=st.booleans())
@settings(max_examples=25, deadline=None)
def test_whatever_the_cluster_its_answer_keeps_every_rule(
    chance: random.Random, *, grouped: bool
) -> None:
    renewal = cluster(chance, grouped=grouped)
    is_right(renewal, renew(renewal, Effort.QUICK))


@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_pods_that_must_be_near_others_move_with_them(chance: random.Random) -> None:
    renewal = followed(chance)
    is_right(renewal, renew(renewal, Effort.QUICK))


def test_a_node_goes_though_one_of_its_pods_must_be_near_the_other() -> None:
    room = Offer(name="roomy", capacity=(8, 8), exists=True)
    old = Offer(name="old", capacity=(0, 0), exists=True)
    anywhere = frozenset({"roomy", "old"})
    classes = tuple(
        PodClass(name=name, requests=(2, 2), count=1, offers=anywhere) for name in ("web", "cache")
    )
    near = Near(
        name="near",
        key=HOSTNAME,
        members=frozenset({"web"}),
        anchors=frozenset({"cache"}),
        running=frozenset({"old"}),
    )
    problem = Problem(
        resources=("cpu", "memory"), offers=(room, old), classes=classes, groups=(near,)
    )
    node = RenewableNode(offer="old", price=9, holds={"web": 1, "cache": 1})
    answer = renew(Renewal(problem=problem, standing=(node,)), Effort.QUICK)
    assert answer.goes == ("old",)
    assert [dict(each.pods) for each in answer.plan.nodes] == [{"cache": 1, "web": 1}]
