"""The benchmark of giving back counts right, and its simulated part runs in small."""

from __future__ import annotations

import argparse
import re
from math import inf

import pytest

from benchmarks import manifests, scaledown, scaledown_stage
from benchmarks.__main__ import main
from benchmarks.lives import EVICTED, MARKED, Lives
from benchmarks.scaledown_bill import Bill, Clairvoyant, Paid, alive, bill_of
from benchmarks.scaledown_churn import steps
from benchmarks.scaledown_drop import disruption, kept, pending
from benchmarks.scaledown_virtual import Virtual
from growth.api.deletion_cost import PodDeletionCost

BILL = Bill([Paid(0.0, 10.0, 1.0), Paid(4.0, inf, 0.5)])


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    scaledown.add_arguments(parser)
    return parser.parse_args(words)


def test_a_machine_is_paid_from_its_first_moment_to_its_last() -> None:
    assert [BILL.rate(at) for at in (0, 4, 9.9, 10)] == [1.0, 1.5, 1.5, 0.5]
    assert [BILL.count(at) for at in (0, 4, 10)] == [1, 2, 1]
    assert BILL.between(2.0, 12.0) == 8.0 + 4.0
    assert BILL.changes(0.0, 20.0) == [4.0, 10.0]


def test_what_the_watches_tell_comes_to_a_bill() -> None:
    lives = Lives()
    lives.take("request", "ADDED", {"metadata": {"name": "default-1"}, "spec": {"price": "0.25"}})
    for name in ("default-1", "control-plane"):
        node = {"metadata": {"name": name}, "spec": {}, "status": {}}
        lives.take("node", "ADDED", node)
    (paid,) = bill_of(lives).paid
    assert (paid.price, paid.until) == (0.25, inf)
    lives.take("node", "DELETED", lives.of("node")["default-1"].newest)
    (paid,) = bill_of(lives).paid
    assert paid.since <= paid.until < inf


def test_marks_and_evictions_are_seen() -> None:
    lives = Lives()
    target = {"type": "DisruptionTarget", "status": "True", "reason": EVICTED}
    pod = {"metadata": {"name": "web"}, "spec": {}, "status": {"conditions": [target]}}
    node = {"metadata": {"name": "old"}, "spec": {"taints": [{"key": MARKED}]}, "status": {}}
    lives.take("pod", "MODIFIED", pod)
    lives.take("node", "MODIFIED", node)
    assert lives.moments("pod", "evicted").keys() == {"web"}
    assert lives.moments("node", "marked").keys() == {"old"}


def test_pods_are_counted_by_their_deployment_while_they_are_alive() -> None:
    lives = Lives()
    for name in ("a-1", "a-2", "b-1"):
        pod = {"metadata": {"name": name, "labels": {"app": name[0]}}, "spec": {}, "status": {}}
        lives.take("pod", "ADDED", pod)
    born = lives.of("pod")["b-1"].moments["created"]
    lives.of("pod")["a-2"].moments["gone"] = born + 5
    assert alive(lives, born) == {"a": 2, "b": 1}
    assert alive(lives, born + 5) == {"a": 1, "b": 1}
    assert alive(lives, born - 60) == {}
    waits = sorted(pending(lives, since=born - 60, until=born + 9))
    assert waits == pytest.approx([5, 9, 9], abs=0.5)


def test_the_same_share_is_left_of_all_deployments_together() -> None:
    replicas = {"a": 7, "b": 1, "c": 1, "d": 1, "e": 990}
    left = kept(replicas)
    assert sum(left.values()) == 400
    assert all(0 <= left[name] <= count for name, count in replicas.items())


def test_a_seed_draws_the_same_churn() -> None:
    words = ("--churn-seconds", "30", "--seed", "7")
    at_first = {f"class-{number}": number for number in range(9)}
    drawn = list(steps(at_first, arguments(*words)))
    assert drawn == list(steps(at_first, arguments(*words)))
    assert len(drawn) == 6
    for step in drawn:
        assert len(step) == 6
        assert all(0 <= count <= 2 * at_first[name] for name, count in step.items())


def test_the_clairvoyant_pays_for_exactly_the_pods_of_a_moment() -> None:
    knows = Clairvoyant(prices="hetzner", seed=1, pods=20, deployments=3)
    some, none = knows.plan({"class-00000": 2, "class-00001": 1}), knows.plan({})
    assert none.cost == 0
    assert 0 < some.bound <= some.cost
    assert sum(sum(node.pods.values()) for node in some.nodes) == 3


@pytest.mark.parametrize(
    ("part", "small", "told"),
    [
        (
            "virtual",
            ["--pods", "40", "--deployments", "4", "--minutes", "5"],
            [
                r"40 pods on",
                r"cost / plan from scratch \d+\.\d{3} x",
                r"5 minutes of steady load: 0 changes",
            ],
        ),
        (
            "rescaled",
            ["--churn-pods", "30", "--churn-deployments", "6", "--churn-seconds", "20"],
            [
                r"20 virtual s of churn",
                r"bound \d\.\d{4}: \d+\.\d{3} x",
                r"p99 \d+\.\d\d s .*; \d+ evictions",
            ],
        ),
    ],
)
def test_its_simulated_parts_run_in_small(
    part: str, small: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scaledown", "--parts", part, "--prices", "hetzner", *small]) == 0
    printed = capsys.readouterr().out
    for line in told:
        assert re.search(line, printed), printed


def evictions_of_a_drop(cost: PodDeletionCost) -> int:
    """Pods that have to be moved after 120 pods have become 48."""
    told = arguments("--prices", "hetzner", "--budget", "100%")
    wanted = list(manifests.deployments(pods=120, count=8, seed=1))
    _, node_class, pool = scaledown_stage.offered(told, **disruption(told))
    world = Virtual(node_class, pool, ranks=True, deletion_cost=cost)
    world.begin(wanted)
    before, fewer = world.moved, kept(scaledown_stage.replicas_of(wanted))
    for each in wanted:
        world.want(each, fewer[each["metadata"]["name"]])
    world.passes(300)
    return world.moved - before


def test_fewer_pods_are_moved_if_those_of_the_last_nodes_go_first() -> None:
    by_node, as_usual = map(
        evictions_of_a_drop, (PodDeletionCost.BY_NODE, PodDeletionCost.UNTOUCHED)
    )
    assert by_node < as_usual
