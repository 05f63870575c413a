"""Pods that plans leave out are tried less and less, and return when there is a reason to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reconciler.planning.tries import (
    CEILING,
    PATIENCE,
    PodTries,
    Try,
    after_left_out,
    pause_after_tries,
)
from tests.planning.driver import Planner, bought
from tests.reconciler.build import START, node_class, pool, request, waiting
from tests.scheduling import build

ONE = {"cpu": "1"}


def huge(name: str = "huge", cpu: str = "100") -> Any:
    return waiting(name, requests={"cpu": cpu})


@pytest.mark.parametrize(
    ("count", "seconds"), [(1, 1), (4, 1), (5, 2), (6, 4), (7, 8), (12, 256), (13, 300), (99, 300)]
)
def test_the_pause_doubles_from_the_fifth_try_up_to_five_minutes(
    count: int, seconds: float
) -> None:
    assert pause_after_tries(count) == seconds


def test_two_plans_within_a_second_count_as_one() -> None:
    one = after_left_out(None, 10.0, "first")
    again = after_left_out(one, 10.9, "second")
    assert (again.count, again.reason) == (1, "second")
    assert after_left_out(again, 11.0, "third").count == 2


def test_time_alone_never_brings_a_pod_back_from_back_off() -> None:
    resting = Try(count=14, counted_at=0.0)
    assert resting.next_at == CEILING
    assert resting.standing(10_000.0) is PodTries.BACK_OFF


def test_a_pod_whose_place_depends_on_others_is_tried_every_five_minutes() -> None:
    resting = Try(count=14, counted_at=0.0, looks_at_others=True)
    assert resting.standing(CEILING - 1.0) is PodTries.BACK_OFF
    assert resting.standing(CEILING) is PodTries.NORMAL


def test_a_pod_in_back_off_returns_when_the_domain_goes_that_kept_it_waiting() -> None:
    """An empty zone in which nothing is sold keeps further pods of a spread out of the others."""
    spread = {
        "topologyKey": "topology.kubernetes.io/zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    label = {"metadata": {"labels": {"app": "web"}}}
    running = bound("web-1", "here-1", **label)
    pod = waiting("web-2", requests=ONE, topologySpreadConstraints=[spread], **label)
    here, yonder = (node_in(zone) for zone in ("here", "yonder"))
    planner = Planner(pod, running, here, yonder, only_small(), node_class())
    planner.until(10_000)
    assert planner.created == []
    assert [reason for _, reason, _ in planner.events] == ["NoPlace", "BackOff"]

    planner.remove(yonder)

    assert bought(planner.until(10_000 + CEILING)) == [("small", 1)]
    assert len(planner.events) == 2


def node_in(zone: str) -> Any:
    """A node without room."""
    return build.node(f"{zone}-1", labels={"topology.kubernetes.io/zone": zone})


def bound(name: str, node: str, **changes: Any) -> Any:
    return waiting(name, requests={}, nodeName=node, **changes)


def test_a_pod_that_nothing_holds_is_planned_less_and_less_and_then_no_more() -> None:
    planner = Planner(huge(), pool(), node_class())
    planner.until(10_000)
    assert len(planner.problems) == PATIENCE + 8
    asked = len(planner.problems)
    planner.until(20_000)
    assert len(planner.problems) == asked


def test_a_question_that_ends_without_an_answer_is_asked_again() -> None:
    planner = Planner(waiting("web", requests={"cpu": "1"}), pool(), node_class())
    planner.unanswered = 2
    assert bought(planner.until(110.0)) == [("small", 1)]
    assert len(planner.problems) == 3


def test_it_is_told_why_once_and_once_that_it_rests() -> None:
    planner = Planner(huge(), pool(), node_class())
    planner.until(10_000)
    assert [(name, reason) for name, reason, _ in planner.events] == [
        ("huge", "NoPlace"),
        ("huge", "BackOff"),
    ]
    note = planner.events[0][2]
    assert "needs 100 of cpu" in note
    assert "8 (large in here)" in note


def test_a_pod_without_a_pool_is_told_so_once_and_served_when_the_pool_is_there() -> None:
    pod = waiting(requests=ONE, nodeSelector={"growth.dev/pool": "gpu"})
    planner = Planner(pod, pool(), node_class())
    planner.until(160)
    assert [(reason, "gpu" in note) for _, reason, note in planner.events] == [
        ("PoolNotFound", True)
    ]
    planner.put(pool("gpu"))
    assert bought(planner.soon()) == [("small", 1)]


def test_who_waits_doesn_t_hold_back_others() -> None:
    planner = Planner(huge(), pool(), node_class())
    planner.until(150)
    planner.put(waiting("small", requests=ONE))
    assert bought(planner.soon()) == [("small", 1)]


def test_a_place_sets_the_count_back() -> None:
    tight = pool(serverTypes=[{"name": "small", "max": 1}])
    first, second = (waiting(name, requests={"cpu": "2"}) for name in ("a", "b"))
    planner = Planner(first, second, tight, node_class())
    planner.until(103)
    assert planner.memory.tries[second.metadata.uid].count >= 2
    planner.remove(first, *planner.created)
    planner.until(110)
    assert second.metadata.uid not in planner.memory.tries


def test_pods_in_back_off_return_when_a_pool_changes() -> None:
    planner = Planner(huge(cpu="20"), pool(), node_class())
    planner.until(10_000)
    bigger = node_class(
        types=[
            {
                "name": "giant",
                "resources": {"cpu": "64", "memory": "99Gi", "pods": "110"},
                "offers": [{"location": "here", "price": "9"}],
            }
        ]
    )
    grown = pool(serverTypes=[{"name": "giant", "max": 1}])
    planner.put(bigger, _changed(grown))
    assert bought(planner.soon()) == [("giant", 1)]


def _changed(one: Any) -> Any:
    metadata = one.metadata.model_copy(update={"generation": 2})
    return one.model_copy(update={"metadata": metadata})


def unmet(name: str = "default-1", **spec: Any) -> Any:
    return request(name, pods=(), status={"phase": "Unmet"}, **spec)


def test_an_offer_that_the_provider_lacks_is_planned_around() -> None:
    planner = Planner(waiting(requests=ONE), pool(), node_class(), unmet())
    (made,) = planner.soon()
    assert (made.spec.server_type.canonical, made.spec.location) == ("small", "there")


def only_small(**entry: Any) -> Any:
    """A pool that buys one offer, and what its status says of it."""
    made = pool(serverTypes=[{"name": "small", "max": 9}], locations=[{"region": "here"}])
    told = {"serverType": "small", "location": "here", "until": START} | entry
    return made.model_copy(
        update={"status": made.status.model_validate({"unmetOffers": [told] if entry else []})}
    )


def in_doubt() -> Any:
    """The time of the refusal is over."""
    return only_small(until=START)


def out_of_stock_until_back_off() -> Planner:
    """Three pods that have given up on an offer whose refusal has just ended, at ten thousand."""
    pods = [waiting(f"web-{number}", requests={"cpu": "2"}) for number in range(3)]
    refused = only_small(until=START + timedelta(seconds=10_000))
    planner = Planner(*pods, refused, node_class())
    planner.until(10_000.1)
    assert planner.created == []
    return planner


def test_a_refusal_that_has_run_out_is_probed_with_one_machine() -> None:
    planner = out_of_stock_until_back_off()
    assert bought(planner.until(10_200)) == [("small", 1)]


def test_pods_in_back_off_return_when_the_probe_serves_and_not_before() -> None:
    planner = out_of_stock_until_back_off()
    (probe,) = planner.until(10_200)
    coming = probe.model_copy(
        update={"status": probe.status.model_validate({"phase": "Provisioning"})}
    )
    planner.put(coming)
    assert planner.until(10_400) == []
    ready = {"phase": "Ready", "readyAt": START + timedelta(seconds=10_400)}
    planner.put(probe.model_copy(update={"status": probe.status.model_validate(ready)}))
    planner.put(only_small())
    assert bought(planner.until(10_410)) == [("small", 1), ("small", 1)]


def test_a_probe_that_is_refused_brings_nobody_back() -> None:
    planner = out_of_stock_until_back_off()
    (probe,) = planner.until(10_200)
    planner.put(
        probe.model_copy(update={"status": probe.status.model_validate({"phase": "Unmet"})})
    )
    assert planner.until(10_500) == []
