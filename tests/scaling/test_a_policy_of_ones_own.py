"""A second policy takes one function and one line: here, a pool that keeps exactly so many nodes.

It is told to the whole loop in virtual time, beside a pool that follows demand. The auditors of the
simulated world look on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.wellknown import POOL_LABEL
from growth.keeping.size import Floor, PoolSize, size_in_status
from growth.keeping.wanting import KeepingReason
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler import scaling
from reconciler.facts.ownership import pool_of_node
from reconciler.loop import ROOMS, Room
from reconciler.scaling.registry import POLICIES
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story
from tests.reconciler.build import at, world
from tests.reconciler.build import pool as some_pool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World

EXACT, DEMAND = "exact", "default"
COUNT = "example.com/nodes"
CALM = Story(seed=1, minutes=120.0, faults=(), workloads=0)
SOON = 60.0


def exactly(world: World, pool: NodePool, _now: Instant) -> PoolSize:
    """As many nodes as an annotation of the pool says, the oldest first."""
    if pool.name != EXACT:
        return POLICIES["Demand"](world, pool, _now)
    count = int(pool.metadata.annotations[COUNT])
    nodes = (n for n in world.cluster.ordered_nodes if pool_of_node(n) == pool.name)
    there = [node.name for node in nodes if node.name not in world.removals]
    types = frozenset(entry.name for entry in pool.spec.server_types)
    floors = (Floor(types=types, count=count),)
    why = f"the pool has exactly {count} nodes"
    over = frozenset(there[count:])
    return PoolSize(floors=floors, most=count, surplus=over, drains=True, why=why)


def with_one_line_more() -> Parts:
    rooms: Iterable[Room[Any]] = ROOMS
    decide = partial(scaling.decide, policies={"Demand": exactly})
    chosen = [replace(room, decide=decide) if room.name == "scaling" else room for room in rooms]
    return Parts(rooms=chosen)


class Told:
    """The two pools, and pods for each of them."""

    def __init__(self, count: int) -> None:
        self.living = Living(CALM, SimulatedJoining.AT_ONCE, parts=with_one_line_more())
        self.server = self.living.server
        self.server.create("KwokNodeClass", node_class())
        self.server.create("NodePool", pool(EXACT, count))
        self.server.create("NodePool", pool(DEMAND, 0))
        self.server.create("namespaces", Namespace(Metadata(name="shop")))
        self.living.lives.begin()

    def wants(self, number: int, *, of: str) -> None:
        """So many pods that only one of the pools may serve, two on a small machine."""
        document = {
            "metadata": {"labels": {"app": of}},
            "spec": {
                "containers": [{"name": "main", "resources": {"requests": {"cpu": "1900m"}}}],
                "nodeSelector": {POOL_LABEL: of},
            },
            "status": {"phase": "Pending"},
        }
        template = msgspec.convert(document, Pod)
        owner = SimulatedWorkload(
            name=of, uid=f"uid-{of}", namespace="shop", template=template, pods={}
        )
        self.living.replicas.want(owner, number)

    def resizes(self, count: int) -> None:
        def resized(found: NodePool) -> NodePool:
            changed = found.metadata.model_copy(update={"annotations": {COUNT: str(count)}})
            return found.model_copy(update={"metadata": changed})

        self.server.change("NodePool", Key("", EXACT), resized)

    def until(self, seconds: float) -> None:
        self.living.timeline.run(seconds)
        assert self.living.auditor.found is None

    def nodes(self, name: str) -> list[Node]:
        found = self.server.kind("nodes").objects.values()
        return [node for node in found if pool_of_node(node) == name]

    def pods(self, *, bound: bool) -> list[Pod]:
        found = self.server.kind("pods").objects.values()
        return [pod for pod in found if bool(pod.spec.node_name) is bound]

    def pool(self) -> NodePool:
        found: NodePool = self.server.kind("NodePool").objects[Key("", EXACT)]
        return found


def node_class() -> KwokNodeClass:
    types = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, cpu, price in (("small", "4", "1"), ("large", "8", "3"))
    ]
    document = {"metadata": {"name": "default"}, "spec": {"types": types}}
    return KwokNodeClass.model_validate(document)


def pool(name: str, count: int) -> NodePool:
    rules = {"serverTypes": [{"name": "small", "max": 20}, {"name": "large", "max": 20}]}
    metadata = {"name": name, "annotations": {COUNT: str(count)}}
    return NodePool.model_validate({"metadata": metadata, "spec": rules})


def test_the_nodes_are_bought_without_a_pod_and_at_the_least_cost() -> None:
    told = Told(3)
    told.until(SOON)
    types = [node.labels["growth.dev/instance-type"] for node in told.nodes(EXACT)]
    assert types == ["small"] * 3
    assert told.nodes(DEMAND) == []


def test_pods_that_wait_buy_nothing_there_and_everything_in_a_pool_of_demand() -> None:
    told = Told(1)
    told.wants(6, of=EXACT)
    told.wants(6, of=DEMAND)
    told.until(SOON)
    assert len(told.nodes(EXACT)) == 1
    assert {pod.metadata.labels["app"] for pod in told.pods(bound=False)} == {EXACT}
    assert len(told.pods(bound=False)) == 4


def test_more_are_bought_when_the_pool_is_to_have_more_and_pods_come_to_them() -> None:
    told = Told(1)
    told.wants(6, of=EXACT)
    told.until(SOON)
    told.resizes(3)
    told.until(2 * SOON)
    assert len(told.nodes(EXACT)) == 3
    assert told.pods(bound=False) == []


def test_a_surplus_is_drained_though_pods_are_on_it() -> None:
    told = Told(3)
    told.wants(6, of=EXACT)
    told.until(SOON)
    assert told.pods(bound=False) == []
    told.resizes(2)
    told.until(10 * SOON)
    assert len(told.nodes(EXACT)) == 2
    assert len(told.pods(bound=False)) == 2


def test_idle_nodes_stay_as_long_as_the_policy_holds_them_and_the_rest_goes() -> None:
    told = Told(4)
    told.until(10 * SOON)
    assert len(told.nodes(EXACT)) == 4
    told.resizes(1)
    told.until(20 * SOON)
    assert len(told.nodes(EXACT)) == 1


def test_the_status_says_what_was_decided_why_and_since_when() -> None:
    told = Told(2)
    told.until(SOON)
    status = told.pool().status.scaling
    assert status is not None
    assert [(each.nodes, len(each.server_types)) for each in status.floors] == [(2, 2)]
    assert (status.most, status.message) == (2, "the pool has exactly 2 nodes")
    told.resizes(1)
    told.until(2 * SOON)
    later = told.pool().status.scaling
    assert later is not None
    assert status.changed_at is not None
    assert later.changed_at is not None
    assert later.changed_at > status.changed_at


def test_what_the_command_line_reads_from_the_status_is_what_was_decided() -> None:
    told = Told(2)
    told.until(SOON)
    read = size_in_status(told.pool())
    assert read.floors == (Floor(types=read.floors[0].types, count=2),)
    assert read.keeps(told.nodes(EXACT)[0].name)
    kept = {each.node: each.reason for each in told.pool().status.kept}
    assert set(kept.values()) == {KeepingReason.SIZED.value}


@pytest.mark.parametrize("policy", ["of-tomorrow", ""])
def test_a_pool_whose_policy_is_unknown_is_left_as_it_is(policy: str) -> None:
    unknown = some_pool()
    strange = unknown.spec.scaling.model_copy(update={"policy": policy})
    spec = unknown.spec.model_copy(update={"scaling": strange})
    seen = world(unknown.model_copy(update={"spec": spec}))
    (size,) = scaling.decide(seen, at(0)).section.sizes.values()
    assert not size.floors
    assert not size.serves_demand
    assert size.keeps("any node")
