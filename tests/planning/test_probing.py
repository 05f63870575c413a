"""An offer that may be back is tried for a pod that could use it, whoever else rests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reconciler.buying import refusals
from tests.planning.driver import Planner, bought
from tests.reconciler.build import START, node_class, pool, waiting

ENDS = 10_000.0
"""When the refusal of small machines here is over."""
PAUSE = 300.0
SMALL_HERE = {
    "serverTypes": [{"name": "small", "max": 9}],
    "locations": [{"region": "here"}],
}


def refused(name: str, **spec: Any) -> Any:
    made = pool(name, **(SMALL_HERE | spec))
    entry = {"serverType": "small", "location": "here", "until": START + timedelta(seconds=ENDS)}
    status = made.status.model_validate({"unmetOffers": [entry]})
    return made.model_copy(update={"status": status})


def pod(name: str, of: str, *, cpu: str = "1", **labels: str) -> Any:
    return waiting(name, requests={"cpu": cpu}, nodeSelector={"growth.dev/pool": of} | labels)


def five(of: str, **wants: str) -> list[Any]:
    return [pod(f"hopeless-{number}", of, **wants) for number in range(5)]


def in_back_off(*objects: Any) -> Planner:
    """All pods have given up, and the time of the refusal was exceeded a moment ago."""
    planner = Planner(*objects, node_class())
    assert planner.until(ENDS + 0.1) == []
    return planner


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([*five("alpha", cpu="100"), pool("alpha")], id="of another pool"),
        pytest.param(five("nowhere"), id="of a pool that does not exist"),
        pytest.param(five("beta", cpu="100"), id="too large for any machine"),
        pytest.param(five("beta", disk="golden"), id="with a selector that no machine matches"),
    ],
)
def test_more_pods_that_nothing_helps_keep_no_probe_from_one_that_it_would(
    others: list[Any],
) -> None:
    planner = in_back_off(*others, pod("web-0", "beta"), refused("beta"))
    made = planner.until(ENDS + 10)
    assert bought(made) == [("small", 1)]
    assert [each.name for each in made[0].spec.pods] == ["web-0"]


def test_of_the_pods_that_it_would_help_the_most_frequent_kind_is_tried_first() -> None:
    pods = [pod(f"web-{number}", "beta", cpu="1500m") for number in range(3)]
    planner = in_back_off(pod("aaa", "beta"), *pods, refused("beta"))
    (made,) = planner.until(ENDS + 10)
    assert [each.name for each in made.spec.pods] == ["web-0"]


def test_a_probe_that_could_not_be_planned_is_planned_again_after_its_pause() -> None:
    planner = in_back_off(pod("golden", "beta", disk="golden"), refused("beta"))
    asked = len(planner.problems)

    assert planner.until(ENDS + 10) == []
    assert len(planner.problems) == asked + 1
    assert planner.wakes_at == pytest.approx(ENDS + PAUSE, abs=1)

    planner.until(ENDS + PAUSE + 10)
    assert len(planner.problems) == asked + 2


def test_many_kinds_times_many_offers_are_tried_some_in_each_pause_and_all_in_turn() -> None:
    names = [f"type-{number}" for number in range(5)]
    room = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    offers = [{"location": "here", "price": "1"}]
    sold = [{"name": name, "resources": room, "offers": offers} for name in names]
    made = pool("beta", serverTypes=[{"name": name, "max": 9} for name in names])
    ends = START + timedelta(seconds=ENDS)
    entries = [{"serverType": name, "location": "here", "until": ends} for name in names]
    status = made.status.model_validate({"unmetOffers": entries})
    kinds = [pod(f"kind-{kind}", "beta", cpu=f"{500 + kind}m", disk="golden") for kind in range(50)]
    planner = Planner(*kinds, made.model_copy(update={"status": status}), node_class(types=sold))
    planner.until(ENDS + 0.1)
    before = len(planner.problems)

    planner.until(ENDS + PAUSE - 1)
    assert len(planner.problems) - before <= refusals.IN_VAIN

    planner.until(ENDS + 5 * PAUSE + 10)
    assert len(planner.memory.refusals.probe_at) == 50 * 5
    assert planner.created == []
