"""While a node opens, the seats that nothing could replace are held for their pods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reconciler.buying.offers import Shelf, shelf
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.nominations import Nominated, Nomination
from tests.provisioning.build import UNREGISTERED, Life, made_at, node, settled
from tests.reconciler.build import START, waiting
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod

ONE, OTHER = "default-1", "default-2"
BARE = {"pods": "110", "memory": "4Gi"}
HELD_BACK = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
NO_MORE = {"limits": {"nodes": 2}}
"""The two machines that are on their way are all that the pool may have."""


def pod_of(cpu: str) -> Pod:
    return waiting("big", requests={"cpu": cpu})


def coming(name: str, *pods: Pod) -> Any:
    """A request for a machine of two CPUs that boots."""
    status = {"phase": "Provisioning", "nodeID": f"kwok://{name}", "acceptedAt": START}
    return made_at(99.0, name, status=status, pods=pods, resources=BARE | {"cpu": "2"})


def opening(big: Pod, **pool: Any) -> Life:
    """Of two machines on their way, one for this pod; the other one is Ready."""
    life = Life(settled(**pool), coming(ONE, big), coming(OTHER), big)
    life.put(node(OTHER))
    life.planning = PlanningLedger(shelf=shelf(life.world(), Shelf()))
    return life


def serves(life: Life, name: str) -> bool:
    return all(taint.key != UNREGISTERED["key"] for taint in life.get("Node", name).spec.taints)


def place(life: Life) -> str:
    return str(life.get("Pod", "big").status.nominated_node_name)


def test_a_pod_that_no_other_machine_could_hold_is_nominated_before_its_node_opens() -> None:
    life = opening(pod_of("1500m"), **NO_MORE)
    life.put(node(ONE))
    life.until(100.2)
    assert place(life) == ONE
    assert serves(life, ONE)
    assert life.writes.index("HoldSeat") < life.writes.index("SetNode")


@pytest.mark.parametrize(
    ("cpu", "limits"),
    [("1500m", {}), ("900m", NO_MORE)],
    ids=["another one can be bought", "less than half of it"],
)
def test_no_seat_is_held_that_something_can_replace(cpu: str, limits: dict[str, Any]) -> None:
    life = opening(pod_of(cpu), **limits)
    life.put(node(ONE))
    life.until(100.2)
    assert serves(life, ONE)
    assert "HoldSeat" not in life.writes


def test_a_machine_that_another_type_can_replace_holds_no_seat() -> None:
    life = opening(
        pod_of("1500m"), serverTypes=[{"name": "small", "max": 2}, {"name": "large", "max": 1}]
    )
    life.put(node(ONE))
    life.until(100.2)
    assert "HoldSeat" not in life.writes


def test_the_node_opens_when_the_control_plane_has_let_go_of_it() -> None:
    life = opening(pod_of("1500m"), **NO_MORE)
    life.put(node(ONE, taints=[UNREGISTERED, HELD_BACK]))
    life.until(102.0)
    assert (place(life), serves(life, ONE)) == ("", False)
    life.put(node(ONE))
    life.soon()
    assert (place(life), serves(life, ONE)) == (ONE, True)


def test_the_control_plane_keeps_it_closed_for_some_seconds_only() -> None:
    life = opening(pod_of("1500m"), **NO_MORE)
    life.put(node(ONE, taints=[UNREGISTERED, HELD_BACK]))
    life.until(106.0)
    assert serves(life, ONE)


def test_other_nodes_of_the_pool_open_after_it() -> None:
    life = opening(pod_of("1500m"), **NO_MORE)
    life.until(102.0)
    assert not serves(life, OTHER)
    life.put(node(ONE))
    life.soon()
    assert serves(life, ONE)
    assert serves(life, OTHER)


def test_other_nodes_of_the_pool_wait_for_some_seconds_only() -> None:
    life = opening(pod_of("1500m"), **NO_MORE)
    life.until(106.0)
    assert serves(life, OTHER)


def test_nobody_waits_for_a_seat_that_can_be_replaced() -> None:
    life = opening(pod_of("1500m"))
    life.until(100.2)
    assert serves(life, OTHER)


def test_a_seat_of_a_pod_that_is_bound_elsewhere_is_not_held() -> None:
    life = opening(pod_of("1500m"), **NO_MORE)
    life.drop("Pod", "big")
    life.put(node(ONE))
    life.until(100.2)
    assert serves(life, ONE)
    assert "HoldSeat" not in life.writes


def opened(big: Pod) -> Life:
    """The node is open, and the seat of the pod was held."""
    life = opening(big, **NO_MORE)
    place = Nomination(machine=ONE, shape=big.shape, is_bought_for=True)
    nominated = Nominated(places={big.metadata.uid: place})
    life.planning = replace(life.planning, nominated=nominated)
    life.put(node(ONE))
    life.until(100.2)
    assert "HoldSeat" in life.writes
    return life


def clear(life: Life, big: Pod) -> None:
    """The scheduler tries the pod in vain, as it hasn't seen yet that the node is open."""
    life.put(big)


def test_a_seat_is_held_again_if_the_scheduler_clears_it_while_the_node_has_room() -> None:
    big = pod_of("1500m")
    life = opened(big)
    for moment in (100.3, 101.0):
        clear(life, big)
        life.until(moment)
        assert place(life) == ONE


def test_a_seat_whose_room_is_taken_is_not_held_again() -> None:
    big = pod_of("1500m")
    life = opened(big)
    life.put(build.pod("small", on=ONE, requests={"cpu": "3"}))
    clear(life, big)
    life.until(101.0)
    assert place(life) == ""


def test_a_seat_that_is_always_cleared_is_held_less_and_less_often() -> None:
    big = pod_of("1500m")
    life = opened(big)
    for tenth in range(1003, 1100):
        clear(life, big)
        life.until(tenth / 10)
    assert 4 < life.writes.count("HoldSeat") < 12
