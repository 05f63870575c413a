"""What the demo says: each machine and each pod is counted once, and the lines add up."""

from __future__ import annotations

from typing import Any

import pytest

from kwok.demo_figures import DemoOffer, all_machines, bought, given_back
from tests.kwok.told import added_up, assert_it_adds_up, sums

TOLD = """\
  1  A pool and its catalogue of machines are applied:
  2  The same pool with a type listed twice.
  3  50 pods of 6 deployments are created.
         4 x cax31  fsn1   0.0200/h each    34 pods
         1 x cx23   fsn1   0.0088/h each     4 pods
         3 x cx33   fsn1   0.0136/h each     6 pods
         3 x cx33   nbg1   0.0136/h each     6 pods
        11 machines      0.1704/h in all  50 pods
     0.1704 per hour, proven optimal. First-fit would pay 0.2600, 52.6 % more.
     first machine requested after 835 ms, 11 machines joined, 50 of 50 pods bound after 3.7 s

  4  The next offer is sold out (an injected failure); 6 more pods:
         1 x cx33   fsn1   0.0136/h each     2 pods
         1 x cx33   nbg1   0.0136/h each     2 pods
         2 machines      0.0272/h in all   4 pods
       the other 2: on existing machines

  5  Load drops: 56 pods become 17. Pods are moved together.
     13 machines at 0.1976 per hour become 5 at 0.0760 within 7.5 s:
       -0.0944   2 x cax31, 4 x cx33: their pods fit on other machines
       -0.0360   1 x cx23, 2 x cx33: no pods were left on them
       +0.0088   1 x cx23
     17 of 17 pods bound
"""


def request(name: str, price: str, **workloads: int) -> dict[str, Any]:
    pods = [{"kind": "ReplicaSet", "name": each, "pods": n} for each, n in workloads.items()]
    spec = {"serverType": "cx33", "location": "fsn1", "price": price, "workloads": pods}
    return {"metadata": {"name": name}, "spec": spec}


def test_a_pod_that_was_still_to_come_is_counted_once() -> None:
    one = request("one", "0.0136", web=2, api=1)
    # Two of the three were there when the machine was asked for.
    one["spec"]["pods"] = [{"namespace": "default", "name": each} for each in ("web-a", "web-b")]

    assert all_machines([one]).pods == 3


def test_the_line_below_the_machines_is_their_sum() -> None:
    requests = [request("one", "0.0136", web=2), request("two", "0.0088", web=1, api=4)]

    lines = "\n".join(bought(requests))

    assert sums(lines) == [added_up(lines)]
    assert tuple(added_up(lines)) == tuple(all_machines(requests))


def test_one_kind_of_machine_needs_no_sum() -> None:
    assert len(list(bought([request("one", "0.0136", web=2)]))) == 1


def test_machines_that_go_are_told_by_their_reason() -> None:
    offers = {name: DemoOffer("cx33", "fsn1", "0.0136") for name in ("a", "b", "c")}

    lines = list(given_back("abc", offers, {"a": "Idle", "b": "Consolidation", "c": "Idle"}))

    assert lines == [
        "-0.0136   1 x cx33: their pods fit on other machines",
        "-0.0272   2 x cx33: no pods were left on them",
    ]


def test_what_adds_up_passes() -> None:
    assert_it_adds_up(TOLD)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("34 pods", "36 pods"),
        ("11 machines joined", "12 machines joined"),
        ("0.1704/h in all", "0.1705/h in all"),
        ("the other 2", "the other 3"),
        ("13 machines at", "14 machines at"),
        ("5 at 0.0760", "5 at 0.0761"),
        ("+0.0088   1 x", "+0.0088   2 x"),
    ],
)
def test_what_does_not_add_up_fails(right: str, wrong: str) -> None:
    with pytest.raises(AssertionError):
        assert_it_adds_up(TOLD.replace(right, wrong))
