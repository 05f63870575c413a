"""Drains whose time is limited, in the whole loop in virtual time.

The auditors look on: no pod is deleted before its time is up, and no machine goes with a pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from growth.api.removal_reason import RemovalReason
from growth.api.written import Duration
from growth.kube.cache.resource import Key
from tests.removal.test_drain_in_the_simulated_world import NEW, OLD, SETTLED, Told

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node

PERIOD = 600.0
HELD = {"growth.dev/do-not-disrupt": "true"}


def limited(found: NodePool) -> NodePool:
    """The same pool, whose drains take ten minutes at most."""
    changes = {"termination_grace_period": Duration.of_seconds(PERIOD)}
    disruption = found.spec.disruption.model_copy(update=changes)
    return found.model_copy(
        update={"spec": found.spec.model_copy(update={"disruption": disruption})}
    )


def protected(found: Node) -> Node:
    """The same node, which a person keeps."""
    annotations = {**found.metadata.annotations, **HELD}
    metadata = msgspec.structs.replace(found.metadata, annotations=annotations)
    return msgspec.structs.replace(found, metadata=metadata)


def told() -> Told:
    made = Told()
    for name in (NEW, OLD):
        made.server.change("NodePool", Key("", name), limited)
    return made


def test_a_deleted_pool_goes_though_a_budget_never_yields() -> None:
    town = told()
    town.wants("web", 2)
    town.guards("web", healthy=2)
    town.settle()
    town.server.delete("NodePool", Key("", OLD))
    town.until(SETTLED + PERIOD - 35)
    assert (town.ended, len(town.nodes())) == ([], 1)
    town.until(SETTLED + PERIOD + 30)
    assert sorted(town.ended) == ["web-1", "web-2"]
    assert (town.nodes(), town.removals) == ([], [])
    assert town.server.kind("NodePool").named(OLD) is None
    assert len(town.serving()) == 2


@pytest.mark.parametrize("reason", [RemovalReason.DRIFT, RemovalReason.UNHEALTHY])
def test_a_pod_that_may_not_be_moved_stays_as_long_as_it_can(reason: RemovalReason) -> None:
    town = told()
    town.wants("held", 1, annotations=HELD)
    town.wants("web", 1)
    town.guards("held", healthy=1)
    town.settle()
    (node,) = town.nodes()
    town.gives_back(node, reason)
    town.until(SETTLED + PERIOD - 35)
    assert town.ended == ["web-1"]
    town.until(SETTLED + PERIOD + 30)
    assert town.ended == ["web-1", "held-1"]
    assert not town.is_listed(node)


def test_a_drain_that_saves_money_is_given_up_as_before() -> None:
    town = told()
    town.wants("web", 2)
    town.guards("web", healthy=2)
    town.settle()
    (node,) = town.nodes()
    town.gives_back(node, RemovalReason.CONSOLIDATION)
    town.until(SETTLED + PERIOD + 60)
    assert (town.ended, town.removals, town.is_listed(node)) == ([], [], True)


def test_a_person_who_protects_the_node_ends_a_drain_that_has_a_limit() -> None:
    town = told()
    town.wants("web", 2)
    town.guards("web", healthy=2)
    town.settle()
    (node,) = town.nodes()
    town.gives_back(node, RemovalReason.DRIFT)
    town.until(SETTLED + 60)

    town.server.change("nodes", Key("", node.name), protected)
    town.until(SETTLED + PERIOD + 60)
    assert (town.ended, town.removals, town.is_listed(node)) == ([], [], True)
