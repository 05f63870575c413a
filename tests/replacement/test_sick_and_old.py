"""Sick nodes and old ones are replaced in the simulated world, a few at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.kube.cache.resource import Key
from growth.scheduling.metadata import ObservedCondition
from tests.replacement.town import Town

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.kwoknodeclass import KwokNodeClass
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node

SMALL = {"small": ("2", "4Gi", "0.010")}
ONE_BY_ONE = {"budgets": [{"nodes": 1}], "consolidation": "Never"}
DEFAULT = Key("", "default")


def with_ready(node: Node, status: str) -> Node:
    others = tuple(each for each in node.status.conditions if each.type != "Ready")
    conditions = (*others, ObservedCondition("Ready", status))
    return msgspec.structs.replace(
        node, status=msgspec.structs.replace(node.status, conditions=conditions)
    )


def five(**pool: Any) -> Town:
    """Five nodes with a pod each."""
    town = Town(types=SMALL, **{"disruption": ONE_BY_ONE, **pool})
    town.passes(15)
    town.wants("web", 5, cpu="1500m")
    # What was bought too much in the rush has gone by then.
    town.passes(240)
    assert town.types == {"small": 5}
    town.opened.clear()
    return town


def fall_silent(town: Town, names: list[str], status: str = "Unknown") -> None:
    for name in names:
        town.server.change("nodes", Key("", name), lambda found: with_ready(found, status))


def said(town: Town) -> dict[str, str]:
    pool = town.server.kind("NodePool").objects[DEFAULT]
    return {each.type: each.status.value for each in pool.status.conditions}


def names(town: Town) -> list[str]:
    return sorted(node.name for node in town.nodes)


def test_a_node_that_stays_silent_is_replaced_and_its_pods_go_on() -> None:
    town = five()
    silent = names(town)[0]
    fall_silent(town, [silent])
    town.passes(590)
    assert silent in names(town)
    town.passes(120)
    assert silent not in names(town)
    assert town.reasons["Unhealthy"] == 1
    assert town.types == {"small": 5}
    assert not town.waiting


def test_many_nodes_that_fall_silent_lose_nothing_and_the_pool_says_so() -> None:
    town = five()
    before = names(town)
    fall_silent(town, before[:3])
    town.passes(3600)
    assert names(town) == before
    assert not town.opened
    assert said(town)["ManySick"] == "True"

    fall_silent(town, before[:3], "True")
    town.passes(60)
    assert names(town) == before
    assert said(town)["ManySick"] == "False"


def faster(found: KwokNodeClass) -> KwokNodeClass:
    """The same types with one more label."""
    return changed(found, labels={"disk": "fast"})


def larger(found: KwokNodeClass) -> KwokNodeClass:
    """The same types with room for two of our pods."""
    return changed(found, resources={"cpu": "4", "memory": "4Gi", "pods": "110"})


def changed(found: KwokNodeClass, **changes: Any) -> KwokNodeClass:
    (small,) = found.spec.types
    types = (small.model_copy(update=changes),)
    return found.model_copy(update={"spec": found.spec.model_copy(update={"types": types})})


def longest_wait(town: Town, seconds: int) -> float:
    """Of any pod, while so many seconds pass."""
    since: dict[str, int] = {}
    longest = 0
    for second in range(seconds):
        town.passes(1)
        waiting = {pod.metadata.uid for pod in town.pods if not pod.spec.node_name}
        since = {uid: since.get(uid, second) for uid in waiting}
        longest = max(longest, *(second - began for began in since.values()), 0)
    return longest


def test_old_nodes_are_replaced_one_by_one() -> None:
    town = five()
    before, most = names(town), 0
    town.server.change("KwokNodeClass", DEFAULT, faster)
    for _ in range(300):
        town.passes(1)
        most = max(most, len(town.server.kind("NodeRemovalRequest").objects))
    assert not set(names(town)) & set(before)
    assert all(node.labels.get("disk") == "fast" for node in town.nodes)
    assert most == 1
    assert town.reasons == {"Drift": 5}


@pytest.mark.parametrize("budget", [1, pytest.param("100%", marks=pytest.mark.long)])
@pytest.mark.parametrize("change", [faster, larger])
def test_no_pod_waits_for_a_machine_since_its_node_is_old(
    budget: Any, change: Callable[[KwokNodeClass], KwokNodeClass]
) -> None:
    town = five(disruption={"budgets": [{"nodes": budget}], "consolidation": "Never"})
    town.server.change("KwokNodeClass", DEFAULT, change)
    assert longest_wait(town, 300) <= 1
    assert town.reasons["Drift"] == 5


def test_old_nodes_stay_while_no_window_is_open() -> None:
    closed = {"budgets": [{"nodes": 0, "reasons": ["Drift"]}], "consolidation": "Never"}
    town = five(disruption=closed)
    before = names(town)
    town.server.change("KwokNodeClass", DEFAULT, faster)
    town.passes(600)
    assert names(town) == before


def test_a_label_of_the_pool_replaces_nothing() -> None:
    town = five()
    before = names(town)

    def labelled(found: NodePool) -> NodePool:
        spec = found.spec.model_copy(update={"labels": {"team": "shop"}})
        return found.model_copy(update={"spec": spec})

    town.server.change("NodePool", DEFAULT, labelled)
    town.passes(600)
    assert names(town) == before
    assert all(node.labels["team"] == "shop" for node in town.nodes)
