"""Nodes that lie: the simulation notices if growth touches one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growth.api.wellknown import PRICE_ANNOTATION, SERVER_ID_ANNOTATION
from growth.kube.cache.resource import Key
from reconciler.simulation.catalogue import pools
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import SimulatedJoining, SimulatedMachine, with_ready
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.server import with_metadata
from reconciler.simulation.story import Story
from reconciler.simulation.strangers import RULE, STAYS, Strangers
from tests.reconciler.build import small_order
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
VICTIM = Key("", "default-1")
FOREIGN = Key("", "stranger-1")
ORDER = small_order(VICTIM.name, request_uid="1")


@pytest.fixture
def living() -> Living:
    """A cluster with one machine, in which growth doesn't run."""
    made = Living(CALM, SimulatedJoining.AT_ONCE)
    for pool in pools(Chance(1, "pools")):
        made.server.create("NodePool", pool)
    made.cloud.machines[VICTIM.name] = SimulatedMachine(order=ORDER, made_at=0.0)
    made.server.create("nodes", with_ready(build.node(VICTIM.name, allocatable={"cpu": "2"})))
    return made


def strike(living: Living, kind: SimulatedFault) -> None:
    Strangers(living).strokes[kind](Chance(1, "test"))


def node(living: Living, key: Key) -> Node:
    found: Node = living.server.kind("nodes").objects[key]
    return found


def with_price(node: Node) -> Node:
    changed: Node = with_metadata(node, annotations={PRICE_ANNOTATION: "1"})
    return changed


def test_a_change_of_a_foreign_node_is_a_breach(living: Living) -> None:
    strike(living, SimulatedFault.FOREIGN_NODE)
    living.server.change("nodes", FOREIGN, with_price)
    assert living.auditor.found is not None
    assert living.auditor.found.rule == RULE


def test_the_deletion_of_a_foreign_node_is_a_breach(living: Living) -> None:
    strike(living, SimulatedFault.FOREIGN_NODE)
    living.server.delete("nodes", FOREIGN)
    assert living.auditor.found is not None
    assert living.auditor.found.rule == RULE


def test_a_foreign_node_leaves_by_itself(living: Living) -> None:
    strike(living, SimulatedFault.FOREIGN_NODE)
    living.timeline.run(STAYS[1])
    assert FOREIGN not in living.server.kind("nodes").objects
    assert living.auditor.found is None


def test_a_kubelet_lies_for_a_while(living: Living) -> None:
    before = node(living, VICTIM)
    strike(living, SimulatedFault.LYING_NODE)
    assert SERVER_ID_ANNOTATION in node(living, VICTIM).metadata.annotations
    living.timeline.run(STAYS[1])
    assert living.auditor.found is None
    after = node(living, VICTIM)
    assert after.labels == before.labels
    assert after.metadata.annotations == before.metadata.annotations
