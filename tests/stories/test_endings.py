"""What is compared of two tellings, and how a difference is told."""

from __future__ import annotations

from collections import Counter

from tests.stories.ending import Ending, Kind, differences

SMALL, LARGE = Kind("main", "small", "here"), Kind("main", "large", "there")


def ending(*machines: Kind, **pods: str) -> Ending:
    return Ending(Counter(machines), Counter(pods.items()))


def test_endings_that_are_alike_have_no_differences() -> None:
    one = ending(SMALL, LARGE, web="main/small here")
    other = ending(LARGE, SMALL, web="main/small here")
    assert differences(one, other) == ""


def test_every_difference_is_a_line_that_says_what_each_stage_has() -> None:
    simulated = ending(SMALL, SMALL, web="main/small here")
    real = ending(SMALL, LARGE, web="no node")
    lines = [line.split() for line in differences(simulated, real).splitlines()]
    assert lines == [
        ["simulated", "real"],
        ["machines", "main/large", "there", "0", "1"],
        ["machines", "main/small", "here", "2", "1"],
        ["pods", "web", "on", "main/small", "here", "1", "0"],
        ["pods", "web", "on", "no", "node", "0", "1"],
    ]


def test_pods_that_have_no_node_are_named_by_workload() -> None:
    assert ending(SMALL, web="main/small here", huge="no node").left == {"huge": 1}
