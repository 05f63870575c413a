"""The table of faults of docs/concepts/policies.md, row by row, in the simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.kwoknodeclass import BootDelay
from growth.api.noderequest import UnmetScope
from growth.api.written import Duration
from growth.kube.cache.resource import Key
from reconciler.simulation.refusals import CloudRefusal
from tests.scaling.three import ALL, BY_NUMBER, BY_USE, CALM, DEMAND, MINUTE, Three

if TYPE_CHECKING:
    from growth.api.kwoknodeclass import KwokNodeClass
    from growth.scheduling.node import Node


def used_little() -> tuple[Three, str]:
    """A pool by number with two nodes, of which the younger one is used little."""
    town = Three([BY_NUMBER])
    town.wants(BY_NUMBER, 8)
    town.passes(3 * MINUTE)
    town.wants(BY_NUMBER, 2)
    town.passes(MINUTE)
    _, little = town.names(BY_NUMBER)
    town.measured.percent = {little: 10}
    return town, little


def test_row_4_figures_of_another_node_take_no_node_away() -> None:
    town, little = used_little()
    before, told = town.names(BY_NUMBER), town.measured.percent
    town.measured.usual, town.measured.percent = None, {"somebody-else": 10}
    town.passes(9 * MINUTE)
    assert town.names(BY_NUMBER) == before
    assert town.holds(BY_NUMBER) == {"Metrics"}
    town.measured.usual, town.measured.percent = 80, told
    town.passes(6 * MINUTE)
    assert little not in town.names(BY_NUMBER)


def booting_for(town: Three, time: str) -> None:
    """From now on, machines boot so long."""

    def changed(found: KwokNodeClass) -> KwokNodeClass:
        delay = BootDelay(min=Duration.parse(time), max=Duration.parse(time))
        spec = found.spec.model_copy(update={"boot_delay": delay})
        return found.model_copy(update={"spec": spec})

    town.server.change("KwokNodeClass", Key("", "default"), changed)


def test_row_6_a_lock_whose_machine_never_comes_opens_and_another_one_is_bought() -> None:
    town = Three([BY_USE])
    booting_for(town, "2h")
    town.wants(BY_USE, 3)
    town.passes(2 * MINUTE)
    assert town.holds(BY_USE) == {"Lock"}
    (lost,) = town.names(BY_USE)
    booting_for(town, "2s")
    town.passes(25 * MINUTE)
    assert lost not in town.names(BY_USE)
    assert (len(town.nodes(BY_USE)), town.waiting(), town.holds(BY_USE)) == (1, 0, set())


def test_row_7_a_number_whose_machine_never_comes_stays_and_another_one_is_bought() -> None:
    town = Three([BY_NUMBER])
    booting_for(town, "2h")
    town.scaled(2)
    town.passes(2 * MINUTE)
    lost = set(town.names(BY_NUMBER))
    assert town.status(BY_NUMBER).desired_nodes == 2
    booting_for(town, "2s")
    town.passes(25 * MINUTE)
    assert not lost & set(town.names(BY_NUMBER))
    assert len(town.nodes(BY_NUMBER)) == town.status(BY_NUMBER).desired_nodes == 2


@pytest.mark.parametrize("name", [BY_USE, pytest.param(BY_NUMBER, marks=pytest.mark.long)])
def test_row_8_what_is_sold_out_is_bought_later(name: str) -> None:
    town = Three([name])
    town.living.cloud.refusals.refuse(CloudRefusal(UnmetScope.PROJECT), seconds=10 * MINUTE)
    town.wants(name, 3)
    town.passes(9 * MINUTE)
    assert (town.names(name), town.waiting()) == ([], 3)
    town.passes(20 * MINUTE)
    assert (len(town.nodes(name)), town.waiting()) == (1, 0)


def changed(town: Three, node: str, **spec: Any) -> None:
    def change(found: Node) -> Node:
        return msgspec.structs.replace(found, spec=msgspec.structs.replace(found.spec, **spec))

    town.server.change("nodes", Key("", node), change)


@pytest.mark.parametrize("name", [BY_USE, BY_NUMBER])
def test_row_9_a_cordoned_node_is_out_of_everything_until_it_is_uncordoned(name: str) -> None:
    town = Three([name])
    town.wants(name, 12)
    town.passes(2 * MINUTE)
    first, *others = town.names(name)
    assert others
    changed(town, first, unschedulable=True)
    town.wants(name, 0)
    town.measured.usual = 10
    town.passes(12 * MINUTE)
    assert town.names(name) == [first]
    changed(town, first, unschedulable=False)
    town.passes(10 * MINUTE)
    assert town.names(name) == []


@pytest.mark.parametrize("name", [BY_USE, BY_NUMBER])
def test_row_10_a_deleted_node_is_followed_by_another_and_its_machine_goes(name: str) -> None:
    town = Three([name])
    town.wants(name, 8)
    town.scaled(2)
    town.passes(2 * MINUTE)
    before = town.names(name)
    town.loses_node(before[0])
    town.passes(30 * MINUTE)
    assert before[0] not in town.names(name)
    assert before[0] not in town.living.cloud.machines
    assert (len(town.nodes(name)), town.waiting()) == (len(before), 0)


def test_row_11_another_number_while_nodes_go_keeps_those_that_are_needed() -> None:
    town = Three([BY_NUMBER])
    town.scaled(4)
    town.passes(3 * MINUTE)
    before = set(town.names(BY_NUMBER))
    town.scaled(1)
    while not town.status(BY_NUMBER).surplus:
        town.passes(5)
    town.scaled(3)
    town.passes(5 * MINUTE)
    assert len(town.nodes(BY_NUMBER)) == town.status(BY_NUMBER).desired_nodes == 3
    assert set(town.names(BY_NUMBER)) <= before, "nothing was bought"


def test_row_12_people_do_it_all_at_the_same_time() -> None:
    town = Three()
    for name in ALL:
        town.wants(name, 20)
    town.scaled(3)
    town.passes(3 * MINUTE)
    for name in ALL:
        cordoned, deleted = town.names(name)[:2]
        changed(town, cordoned, unschedulable=True)
        if name != DEMAND:
            # Three at once would look like a mistake of growth's own, and none would go.
            town.loses_node(deleted)
        town.wants(name, 6)
    town.scaled(2)
    town.passes(30)
    for name in ALL:
        changed(town, town.names(name)[0], unschedulable=False)
    town.scaled(4)
    town.passes(25 * MINUTE)
    assert town.waiting() == 0
    assert len(town.nodes(BY_NUMBER)) == town.status(BY_NUMBER).desired_nodes == 4
    assert not any(node.spec.unschedulable for name in ALL for node in town.nodes(name))
    machines = set(town.living.cloud.machines)
    assert machines == {node for name in ALL for node in town.names(name)}


def test_row_13_a_restart_between_a_purchase_and_its_machine_buys_nothing_twice() -> None:
    town = Three(story=msgspec.structs.replace(CALM, seed=2))
    booting_for(town, "1m")
    for name in ALL:
        town.wants(name, 8)
    town.scaled(3)
    town.passes(30)
    town.living.lives.interrupt(down=5.0)
    town.passes(6 * MINUTE)
    alone = Three(story=msgspec.structs.replace(CALM, seed=2))
    booting_for(alone, "1m")
    for name in ALL:
        alone.wants(name, 8)
    alone.scaled(3)
    alone.passes(6 * MINUTE)
    assert [len(town.nodes(name)) for name in ALL] == [len(alone.nodes(name)) for name in ALL]
    assert town.waiting() == 0
