"""Machines of one plan for several workloads begin to serve together, if that takes no longer than
to boot."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from reconciler import provisioning
from reconciler.provisioning.together import ComingMachine, companies, together_at
from tests.provisioning.build import UNREGISTERED, Life, made_at, node, settled
from tests.reconciler.build import START, at

if TYPE_CHECKING:
    from growth.scheduling.node import Node

ONE, OTHER = "default-1", "default-2"
HELD = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def coming(name: str, *workloads: str, at: float = 99.0, phase: str = "Provisioning") -> Any:
    """A request on its way, and for whom its machine is."""
    accepted = START + timedelta(seconds=100)
    status = {"phase": phase, "nodeID": f"kwok://{name}", "acceptedAt": accepted}
    told = [{"kind": "Job", "namespace": "shop", "name": each, "pods": 1} for each in workloads]
    return made_at(at, name, status=status, workloads=told)


def ready(name: str, *, held: bool = False) -> Node:
    """A node that is Ready, perhaps with the control plane's own taint still."""
    return node(name, taints=[UNREGISTERED, HELD] if held else [UNREGISTERED])


def steered(*objects: Any) -> Life:
    """With an extender that says which pod goes where."""
    life = Life(settled(), *objects)
    life.extra["is_steered"] = True
    return life


def two(other: Any = None, **fields: Any) -> Life:
    """Two machines of one plan, of which one is Ready."""
    return steered(coming(ONE, "web"), other or coming(OTHER, "db", **fields), ready(ONE))


def serves(life: Life, name: str = ONE) -> bool:
    return all(taint.key != UNREGISTERED["key"] for taint in life.get("Node", name).spec.taints)


def test_who_is_ready_waits_a_moment_for_who_is_not() -> None:
    life = two()
    life.until(100.4)
    assert not serves(life)
    life.until(100.7)
    assert serves(life)


def test_nobody_waits_where_no_extender_says_which_pod_goes_where() -> None:
    life = two()
    life.extra.clear()
    life.until(100.1)
    assert serves(life)


def test_when_the_last_of_them_is_ready_all_begin_to_serve() -> None:
    life = two()
    life.until(100.2)
    life.put(ready(OTHER))
    life.until(100.3)
    assert serves(life)
    assert serves(life, OTHER)


@pytest.mark.parametrize("last", [ONE, OTHER])
def test_while_the_control_plane_holds_one_of_them_all_wait_some_seconds(last: str) -> None:
    life = two()
    life.put(*(ready(name, held=name == last) for name in (ONE, OTHER)))
    life.until(104.0)
    assert not serves(life, ONE)
    assert not serves(life, OTHER)
    life.put(ready(last))
    life.soon()
    assert serves(life, ONE)
    assert serves(life, OTHER)


def test_a_control_plane_that_never_lets_one_serve_holds_nobody_up_for_long() -> None:
    life = two()
    life.put(ready(OTHER, held=True))
    life.until(106.0)
    assert serves(life)


@pytest.mark.parametrize(
    "other",
    [
        coming(OTHER, "db", at=90.0),
        coming(OTHER, "web"),
        coming(OTHER, "db", phase="Unmet"),
    ],
    ids=["another plan", "the same workload", "it doesn't come"],
)
def test_nobody_waits_for(other: Any) -> None:
    life = two(other)
    life.until(100.1)
    assert serves(life)


def test_a_plan_on_both_sides_of_a_full_second_is_one() -> None:
    found = [coming(ONE, "web", at=99.0), coming(OTHER, "db", at=100.0)]
    known = companies(map(ComingMachine, found))
    ends = [together_at(each, known, ready_at=7.0, booted=1, longest=15).at for each in found]
    assert ends == [7.5, 7.5]


@pytest.mark.parametrize(
    ("booted", "longest", "seconds"),
    [(0.5, 15.0, 0.5), (3.9, 15.0, 0.5), (4.0, 15.0, 12.0), (60.0, 15.0, 15.0), (60.0, 0.0, 0.0)],
)
def test_who_has_booted_waits_for_three_times_as_long_and_no_longer_than_is_wanted(
    booted: float, longest: float, seconds: float
) -> None:
    found = [coming(ONE, "web"), coming(OTHER, "db")]
    known = companies(map(ComingMachine, found))
    end = together_at(found[0], known, ready_at=7.0, booted=booted, longest=longest)
    assert end.at == 7.0 + seconds


@pytest.mark.parametrize(("booted", "until"), [(5.0, 19.0), (0.5, 12.0)])
def test_who_has_waited_for_the_last_to_be_ready_waits_for_it_to_serve_too(
    booted: float, until: float
) -> None:
    """Where machines are there at once nobody waits for more than the moments of its own."""
    found = [coming(ONE, "web"), coming(OTHER, "db")]
    nodes = [ready(ONE), ready(OTHER, held=True)]
    known = companies(map(ComingMachine, found, nodes, [7.0, 14.0]))
    assert together_at(found[0], known, ready_at=7.0, booted=booted, longest=15.0).at == until


def test_of_those_that_open_at_once_the_one_with_most_room_to_spare_is_the_first() -> None:
    """Pods come to it that were meant for another one, until that one is open, too."""
    rooms = {"default-1": "1900m", "default-2": "500m", "default-3": "1"}
    requests = [
        made_at(
            99.0,
            name,
            status={"phase": "Provisioning", "nodeID": f"kwok://{name}", "acceptedAt": START},
            resources={"cpu": "2", "memory": "4Gi"},
            workloads=[
                {"kind": "Job", "namespace": "a", "name": name, "pods": 1, "requests": {"cpu": cpu}}
            ],
        )
        for name, cpu in rooms.items()
    ]
    life = Life(settled(), *requests, *map(ready, rooms))
    decided = provisioning.decide(life.world(), at(life.now))
    opened = [each.subject.name for each in decided.sequences if each.subject.name in rooms]
    assert opened == ["default-2", "default-3", "default-1"]


def booted() -> Life:
    """Two machines of one plan, of which one is Ready after five seconds."""
    still_boots = node(OTHER, ready=False)
    requests = [coming(ONE, "web", at=95.0), coming(OTHER, "db", at=95.0)]
    return steered(*requests, ready(ONE), still_boots)


def test_a_machine_that_took_five_seconds_serves_with_one_that_takes_fourteen() -> None:
    life = booted()
    life.until(109.0)
    assert not serves(life)
    life.put(ready(OTHER))
    life.soon()
    assert serves(life)
    assert serves(life, OTHER)


def test_it_stays_shut_until_the_control_plane_has_let_the_last_of_them_serve() -> None:
    life = booted()
    life.until(109.0)
    life.put(ready(OTHER, held=True))
    life.until(112.0)
    assert not serves(life, ONE)
    assert not serves(life, OTHER)
    life.put(ready(OTHER))
    life.soon()
    assert serves(life, ONE)
    assert serves(life, OTHER)


def test_a_machine_that_never_comes_holds_nobody_up_for_longer_than_that() -> None:
    life = booted()
    life.until(114.9)
    assert not serves(life)
    life.until(115.5)
    assert serves(life)
