"""Stories of nodes that go with pods on them, told to the whole loop in virtual time.

The auditors of the simulated world look on: pods end by eviction only, no machine goes with a pod,
and no person's cordon is touched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from typing_extensions import override

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.removal_reason import RemovalReason
from growth.api.wellknown import CORDONED_ANNOTATION, POOL_LABEL
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from growth.scheduling.occupancy import Occupancy
from reconciler import removal
from reconciler.facts.marks import is_cordoned_by_a_person
from reconciler.facts.opening import removal_of
from reconciler.loop import ROOMS, Room
from reconciler.providers.kwok.catalogue import kwok_offerings
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.effects import Result, SimulatedEffects
from reconciler.simulation.evictions import HealthyPods
from reconciler.simulation.faults import SimulatedFault, drawn
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story
from reconciler.simulation.trouble import SimulatedTrouble
from tests.simulation.mutants import lets_everything_pass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.actions import Evict
    from reconciler.core.decision import Decision
    from reconciler.core.world import World
    from reconciler.removal.ledger import RemovalLedger
    from reconciler.simulation.server import StoredChange

NEW, OLD = "default", "old"
SETTLED = 60.0
"""Seconds after which everything serves that is wanted at first."""


CALM = Story(seed=1, minutes=120.0, faults=(), workloads=0)
QUICK, MORE = range(1, 4), range(4, 33)


def node_class() -> KwokNodeClass:
    sold = {
        "name": "small",
        "resources": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "offers": [{"location": "here", "price": "1"}],
    }
    document = {"metadata": {"name": "default"}, "spec": {"types": [sold]}}
    return KwokNodeClass.model_validate(document)


def pool(name: str) -> NodePool:
    rules = {
        "serverTypes": [{"name": "small", "max": 20}],
        "disruption": {"consolidation": "Never", "budgets": [{"nodes": "100%"}]},
        "weight": 10 if name == OLD else 1,
    }
    return NodePool.model_validate({"metadata": {"name": name}, "spec": rules})


class Told:
    """Two pools; pods prefer nothing, and are bought for in the old one as long as it is there."""

    def __init__(self, story: Story = CALM, *, parts: Parts | None = None) -> None:
        self.living = Living(story, SimulatedJoining.AT_ONCE, parts=parts)
        self.server = self.living.server
        self.server.create("KwokNodeClass", node_class())
        self.server.create("NodePool", pool(NEW))
        self.server.create("NodePool", pool(OLD))
        self.server.create("namespaces", Namespace(Metadata(name="shop")))
        self.ended: list[str] = []
        """Pods whose end was asked for, in that order."""
        self.server.kind("pods").heard_by.append(self._heard)
        self.living.lives.begin()

    def _heard(self, event: StoredChange) -> None:
        old, new = event.old, event.new
        if old is not None and new is not None and new.is_terminating and not old.is_terminating:
            self.ended.append(new.metadata.name)

    def wants(self, name: str, number: int, *, priority: int = 0, annotations: Any = None) -> None:
        """So many pods with two cores each, two on a machine."""
        terms = [
            {"matchExpressions": [{"key": POOL_LABEL, "operator": "In", "values": [NEW, OLD]}]}
        ]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        document = {
            "metadata": {"labels": {"app": name}, "annotations": annotations or {}},
            "spec": {
                "containers": [{"name": "main", "resources": {"requests": {"cpu": "1900m"}}}],
                "affinity": {"nodeAffinity": required},
                "priority": priority,
            },
            "status": {"phase": "Pending"},
        }
        template = msgspec.convert(document, Pod)
        owner = SimulatedWorkload(
            name=name, uid=f"uid-{name}", namespace="shop", template=template, pods={}
        )
        self.living.replicas.want(owner, number)

    def guards(self, name: str, *, healthy: int) -> None:
        self.living.evictions.guard(
            name, namespace="shop", selects={"app": name}, needs=HealthyPods(healthy)
        )

    def until(self, seconds: float) -> None:
        self.living.timeline.run(seconds)
        assert self.living.auditor.found is None, self.living.auditor.found

    def settle(self) -> None:
        self.until(SETTLED)
        assert len(self.serving()) == len(self.server.kind("pods").objects)

    def gives_back(self, node: Node, reason: RemovalReason) -> None:
        """Somebody has decided that this node is to go."""
        (listed,) = (
            each for each in self.living.cloud._listed().values() if each.name == node.name
        )
        owner = self.server.kind("NodePool").named(node.labels[POOL_LABEL])
        self.server.create("NodeRemovalRequest", removal_of(listed, pool=owner, reason=reason))

    def is_listed(self, node: Node) -> bool:
        return node.name in self.living.cloud.machines

    def serving(self) -> list[Pod]:
        pods = self.server.kind("pods").objects.values()
        return [pod for pod in pods if pod.is_ready and not pod.is_terminating]

    def nodes(self, of_pool: str = OLD) -> list[Node]:
        nodes = self.server.kind("nodes").objects.values()
        return [node for node in nodes if node.labels[POOL_LABEL] == of_pool]

    @property
    def removals(self) -> list[NodeRemovalRequest]:
        return list(self.server.kind("NodeRemovalRequest").objects.values())

    def least_serving(self, seconds: float) -> int:
        """The fewest pods that served at any time until then."""
        fewest = len(self.serving())
        while self.living.timeline.now < seconds:
            self.until(self.living.timeline.now + 0.5)
            fewest = min(fewest, len(self.serving()))
        return fewest


def test_a_deleted_pool_goes_with_all_its_nodes_as_fast_as_budgets_let_it() -> None:
    told = Told()
    told.wants("web", 6)
    told.guards("web", healthy=5)
    told.settle()
    assert len(told.nodes()) == 3
    told.server.delete("NodePool", Key("", OLD))
    assert told.least_serving(SETTLED + 240) == 5, "one at a time"
    assert (told.nodes(), told.removals) == ([], [])
    assert told.server.kind("NodePool").named(OLD) is None
    assert len(told.serving()) == 6
    assert len(told.ended) == 6, "each was moved once"


def test_pods_without_a_budget_go_at_once() -> None:
    told = Told()
    told.wants("web", 6)
    told.settle()
    told.server.delete("NodePool", Key("", OLD))
    told.until(SETTLED + 1)
    assert len(told.ended) == 6
    told.until(SETTLED + 90)
    assert (told.nodes(), len(told.serving())) == ([], 6)


def test_the_low_go_before_the_high() -> None:
    told = Told()
    told.wants("high", 1, priority=1000)
    told.wants("low", 1)
    told.settle()
    (node,) = told.nodes()
    told.gives_back(node, RemovalReason.DRIFT)
    told.until(SETTLED + 60)
    assert told.ended == ["low-1", "high-1"]
    assert node.name not in told.living.cloud.machines


@pytest.mark.parametrize("reason", [RemovalReason.CONSOLIDATION, RemovalReason.POOL_DELETED])
def test_a_budget_at_zero_ends_a_drain_for_cost_and_holds_up_one_that_has_to_be(
    reason: RemovalReason,
) -> None:
    told = Told()
    told.wants("web", 2)
    told.guards("web", healthy=2)
    told.settle()
    (node,) = told.nodes()
    told.gives_back(node, reason)
    told.until(SETTLED + 200)
    (there,) = told.nodes()
    assert there.spec.unschedulable
    assert there.metadata.annotations[CORDONED_ANNOTATION] == reason
    (removal,) = told.removals
    assert "PodDisruptionBudget shop/web allows no disruption" in (
        removal.status.events[-1].reason or ""
    )
    told.until(SETTLED + 400)
    (there,) = told.nodes()
    is_given_up = reason is RemovalReason.CONSOLIDATION
    assert (not there.spec.unschedulable, not told.removals) == (is_given_up, is_given_up)
    assert (CORDONED_ANNOTATION in there.metadata.annotations) is not is_given_up
    assert told.ended == []
    told.guards("web", healthy=1)
    told.until(SETTLED + 600)
    assert (node.name in told.living.cloud.machines) is is_given_up


def test_a_pod_that_may_not_be_moved_frees_the_node_at_once() -> None:
    told = Told()
    told.wants("web", 1, annotations={"growth.dev/do-not-disrupt": "true"})
    told.settle()
    (node,) = told.nodes()
    told.gives_back(node, RemovalReason.CONSOLIDATION)
    told.until(SETTLED + 5)
    assert not told.nodes()[0].spec.unschedulable
    assert (told.removals, told.ended) == ([], [])


def test_a_silent_node_is_given_back_when_the_grace_of_its_pods_is_long_over() -> None:
    told = Told()
    told.wants("web", 2)
    told.settle()
    (node,) = told.nodes()
    told.living.cloud.part([node.name], seconds=3600)
    told.until(SETTLED + 60)
    told.gives_back(node, RemovalReason.UNHEALTHY)
    told.until(SETTLED + 110)
    assert len(told.ended) == 2
    assert node.name in told.living.cloud.machines, "nobody says that they have ended"
    told.until(SETTLED + 180)
    assert node.name not in told.living.cloud.machines
    assert len(told.serving()) == 2


def _points() -> list[str]:
    """The first announcement of each kind of step while a pool is drained."""
    told = Told()
    told.wants("web", 4)
    told.settle()
    before = len(told.living.lives.points)
    told.server.delete("NodePool", Key("", OLD))
    told.until(SETTLED + 200)
    first: dict[str, str] = {}
    ours = (point for point in told.living.lives.points[before:] if " of default:" not in point)
    for point in ours:
        first.setdefault(point.split(": ", 1)[1], point)
    return [first[kind] for kind in sorted(first) if "try 3" not in kind]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(("Evict", "SetNode", "DeleteMachine"), id="at what touches a node"),
        pytest.param(("",), id="anywhere", marks=pytest.mark.long),
    ],
)
def test_a_drain_that_was_interrupted_goes_on_where_it_stood(steps: tuple[str, ...]) -> None:
    points = [point for point in _points() if any(step in point for step in steps)]
    assert len(points) >= 2 * len(steps), "on both sides"
    for point in points:
        told = Told(msgspec.structs.replace(CALM, kill=point))
        told.wants("web", 4)
        told.guards("web", healthy=3)
        told.settle()
        told.server.delete("NodePool", Key("", OLD))
        assert told.least_serving(SETTLED + 120) >= 3, point
        assert (told.nodes(), told.removals, len(told.serving())) == ([], [], 4), point
        assert len(told.ended) <= 4, point


@pytest.mark.parametrize(
    "seed", [*QUICK, *(pytest.param(seed, marks=pytest.mark.long) for seed in MORE)]
)
def test_a_deleted_pool_goes_whatever_goes_wrong(seed: int) -> None:
    # Where nothing is sold, pods have no other place, and their budget keeps them. And what is
    # given back here in growth's place must be within the budgets of its pool.
    left_out = {SimulatedFault.STOCK_OUT, SimulatedFault.POOL_BUDGETS}
    faults = tuple(each for each in drawn(seed) if each not in left_out)
    story = Story(seed=seed, minutes=30.0, faults=faults, workloads=0)
    told = Told(story)
    SimulatedTrouble(told.living, offerings=kwok_offerings(node_class()))
    told.wants("web", 6)
    told.guards("web", healthy=5)
    told.wants("high", 2, priority=100)
    told.until(400)
    told.server.delete("NodePool", Key("", OLD))
    told.until(900)
    for node in told.nodes(NEW)[:2]:
        if told.is_listed(node) and node.name not in {each.name for each in told.removals}:
            told.gives_back(node, RemovalReason.CONSOLIDATION)
    told.until(story.end)
    told.living.auditor.judge()
    assert told.living.auditor.found is None, told.living.auditor.found
    failed = {each.name for each in told.removals}
    assert {node.name for node in told.nodes()} <= failed
    assert len(told.serving()) == 8


# Mistakes, planted


class EndsPodsItself(SimulatedEffects):
    """Whoever wants a pod to go deletes it."""

    @override
    def _evict(self, action: Evict) -> Result:
        self._server.delete("pods", Key(action.namespace, action.name))
        return Result()


class LooksAtLivingPods(SimulatedEffects):
    """A pod that was asked to go is as good as gone."""

    @override
    def pods_in_the_way(self, name: str) -> tuple[Pod, ...]:
        return ()


def waits_for_no_grace(world: World, now: Instant) -> Decision[RemovalLedger]:
    """The same, in the rules."""
    occupancies = {
        name: Occupancy(tuple(pod for pod in each.pods if not pod.is_terminating))
        for name, each in world.cluster.occupancies.items()
    }
    cluster = msgspec.structs.replace(world.cluster, occupancies=occupancies)
    return removal.decide(msgspec.structs.replace(world, cluster=cluster), now)


def takes_any_cordon_for_its_own(world: World, now: Instant) -> Decision[RemovalLedger]:
    """A cordon is a cordon."""
    nodes = {
        name: msgspec.structs.replace(
            node, spec=msgspec.structs.replace(node.spec, unschedulable=False)
        )
        if is_cordoned_by_a_person(node)
        else node
        for name, node in world.cluster.nodes.items()
    }
    cluster = msgspec.structs.replace(world.cluster, nodes=nodes)
    return removal.decide(msgspec.structs.replace(world, cluster=cluster), now)


def _removing_by(
    decide: Callable[[World, Instant], Decision[RemovalLedger]], effects: type[SimulatedEffects]
) -> Parts:
    rooms: Iterable[Room[Any]] = ROOMS
    chosen = [replace(room, decide=decide) if room.name == "removal" else room for room in rooms]
    return Parts(rooms=chosen, effects=effects, judge=lets_everything_pass)


MISTAKES = {
    "pods end by eviction only": Parts(effects=EndsPodsItself),
    "no pod loses its machine": _removing_by(waits_for_no_grace, LooksAtLivingPods),
    "a person's cordon is never touched": _removing_by(
        takes_any_cordon_for_its_own, SimulatedEffects
    ),
}


@pytest.mark.parametrize(("rule", "parts"), MISTAKES.items(), ids=MISTAKES.keys())
def test_a_planted_mistake_breaks_the_rule_that(rule: str, parts: Parts) -> None:
    told = Told(parts=parts)
    told.wants("web", 4)
    told.settle()
    first, *_ = told.nodes()
    told.server.change("nodes", Key("", first.name), _cordoned)
    told.server.delete("NodePool", Key("", OLD))
    told.living.timeline.run(SETTLED + 60)
    found = told.living.auditor.found
    assert found is not None
    assert found.rule == rule


def test_without_a_mistake_only_a_persons_node_is_left() -> None:
    told = Told()
    told.wants("web", 4)
    told.settle()
    first, *others = told.nodes()
    assert others
    told.server.change("nodes", Key("", first.name), _cordoned)
    told.server.delete("NodePool", Key("", OLD))
    told.until(SETTLED + 120)
    assert [node.name for node in told.nodes()] == [first.name]
    deleted = told.server.kind("NodePool").named(OLD)
    (condition,) = (each for each in deleted.status.conditions if each.type == "Deleting")
    assert condition.message == f"Waiting for node {first.name} (cordoned by a person)."


def _cordoned(node: Node) -> Node:
    spec = msgspec.structs.replace(node.spec, unschedulable=True)
    return msgspec.structs.replace(node, spec=spec)
