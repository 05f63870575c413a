"""What Ready nodes wait for before they open, and for how long, is remembered and measured."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from growth.keeping.marks import is_held_back
from reconciler.figures.openings import OpeningFigures
from reconciler.provisioning.ledger import NodeOpening, OpeningWait
from tests.figures.reading import told
from tests.provisioning.build import UNREGISTERED, Life, node
from tests.provisioning.test_booting import driver
from tests.provisioning.test_together import ONE, OTHER, booted, ready, serves, two

NOT_READY = "node.kubernetes.io/not-ready"
SUM, COUNT = "growth_opening_wait_seconds_sum", "growth_opening_wait_seconds_count"


def waited(life: Life, name: str = ONE) -> NodeOpening:
    return life.world().ledger.provisioning.openings[name]


def test_a_node_that_opens_at_once_has_waited_for_nothing() -> None:
    life = two()
    life.extra.clear()
    life.until(100.3)
    found = waited(life)
    assert (found.waited_for, found.ready_at) == (OpeningWait.NOTHING, 100.0)
    assert found.opened_at is not None
    assert found.opened_at < 100.1


def test_a_node_that_waits_says_for_what() -> None:
    life = booted()
    life.until(104.0)
    assert waited(life) == NodeOpening(OpeningWait.MACHINES, ready_at=100.0)
    life.put(ready(OTHER, held=True))
    life.until(106.0)
    assert waited(life) == NodeOpening(OpeningWait.CONTROL_PLANE, ready_at=100.0)
    life.put(ready(OTHER))
    life.soon()
    assert waited(life).waited_for is OpeningWait.CONTROL_PLANE
    assert waited(life).opened_at == pytest.approx(106.0, abs=0.1)


def test_a_node_that_misses_a_storage_driver_waits_for_that() -> None:
    life = two()
    life.put(driver("disk"))
    life.until(110.0)
    assert not serves(life)
    assert waited(life).waited_for is OpeningWait.DRIVERS


@pytest.mark.parametrize(("effect", "is_held"), [("NoSchedule", True), ("NoExecute", False)])
def test_only_the_taint_that_pods_do_not_tolerate_holds_a_node_back(
    effect: str,
    is_held: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    found = node(taints=[UNREGISTERED, {"key": NOT_READY, "effect": effect}])
    assert is_held_back(found) is is_held


def test_the_taint_that_pods_tolerate_keeps_no_plan_closed() -> None:
    life = two()
    tolerated = {"key": NOT_READY, "effect": "NoExecute"}
    life.put(ready(ONE), node(OTHER, taints=[UNREGISTERED, tolerated]))
    life.until(100.3)
    assert serves(life, ONE)
    assert serves(life, OTHER)


def test_each_node_is_measured_once() -> None:
    life, registry = booted(), CollectorRegistry()
    figures = OpeningFigures(registry)
    for seconds in (105.0, 106.0):
        life.until(seconds)
        figures.look(life.world())
    assert sum(told(registry, COUNT).values()) == 0

    life.put(ready(OTHER))
    for _ in range(3):
        life.soon()
        figures.look(life.world())
    assert told(registry, COUNT)["machines",] == 1
    assert told(registry, SUM)["machines",] == pytest.approx(6.0, abs=0.1)
    assert told(registry, COUNT)["nothing",] == 1
