"""Budgets in the simulated world: they count as in Kubernetes, and exceeding one is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from growth.api.disruption import Disruption, DisruptionReason, NodeDisruptionBudget
from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from growth.kube.cache.resource import Key
from reconciler.core.actions import Evict
from reconciler.simulation import budget_auditor
from reconciler.simulation.budget_auditor import KNOWN_WITHIN, OF_PODS, OF_POOLS
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import SimulatedJoining, with_ready
from reconciler.simulation.evictions import BUDGETS, HealthyPods
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.people import POOL_BUDGETS, People
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.server import START
from reconciler.simulation.story import Story
from tests.reconciler.build import pool
from tests.removal.build import removal
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.scheduling.budgets import PodDisruptionBudget
    from growth.scheduling.node import Node

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
WEB = Key("shop", "web")


@pytest.fixture
def living() -> Living:
    """Four pods of a workload, one of which has no place, without growth."""
    made = Living(CALM, SimulatedJoining.AT_ONCE)
    amounts = {"cpu": "3", "memory": "8Gi", "pods": "110"}
    made.server.create("nodes", with_ready(build.node("a", allocatable=amounts)))
    template = build.pod(
        "web",
        requests={"cpu": "1"},
        metadata={"namespace": "shop", "labels": {"app": "web"}},
        status={"phase": "Pending"},
    )
    owner = SimulatedWorkload(name="web", uid="web", namespace="shop", template=template, pods={})
    made.replicas.want(owner, 4)
    made.timeline.run(60.0)
    return made


def guard(living: Living, needs: HealthyPods) -> PodDisruptionBudget:
    living.evictions.guard("web", namespace="shop", selects={"app": "web"}, needs=needs)
    found: PodDisruptionBudget = living.server.kind(BUDGETS).objects[WEB]
    return found


@pytest.mark.parametrize(
    ("needs", "required"),
    [
        (HealthyPods(2), 2),
        (HealthyPods(1, may_lack=True), 3),
        (HealthyPods(60, is_share=True), 3),
        (HealthyPods(30, is_share=True, may_lack=True), 2),
    ],
)
def test_a_share_and_what_may_be_missing_are_counted_of_the_replicas(
    living: Living, needs: HealthyPods, required: int
) -> None:
    status = guard(living, needs).status
    assert status.desired_healthy == required
    assert status.disruptions_allowed == 3 - required


def evict(living: Living, name: str) -> str:
    """The refusal, or "" if the pod goes."""
    pod = living.server.kind("pods").objects[Key("shop", name)]
    asked = Evict(namespace="shop", name=name, uid=pod.metadata.uid)
    refused = living.server.evict(asked)
    return "" if refused is None else refused.why


def test_evictions_within_a_budget_are_no_breach(living: Living) -> None:
    guard(living, HealthyPods(2))
    living.timeline.run(90.0)
    assert not evict(living, "web-1")
    assert evict(living, "web-2")
    assert living.auditor.found is None or living.auditor.found.rule != OF_PODS


def test_an_eviction_that_leaves_too_few_pods_is_a_breach(living: Living) -> None:
    guard(living, HealthyPods(3))
    living.timeline.run(90.0)
    living.server.change(BUDGETS, WEB, _allowing_one)
    living.server.change("nodes", Key("", "a"), _cordoned)
    evict(living, "web-1")
    assert living.auditor.found is not None
    assert living.auditor.found.rule == OF_PODS


def _allowing_one(budget: PodDisruptionBudget) -> PodDisruptionBudget:
    status = msgspec.structs.replace(budget.status, disruptions_allowed=1)
    return msgspec.structs.replace(budget, status=status)


def _cordoned(node: Node) -> Node:
    spec = msgspec.structs.replace(node.spec, unschedulable=True)
    return msgspec.structs.replace(node, spec=spec)


@pytest.mark.parametrize(
    ("nodes", "reasons", "most"),
    [(0, [], 0), (2, [], 2), ("10%", [], 1), ("50%", [], 3), (0, ["Drift"], 5)],
)
def test_the_auditor_counts_what_a_pool_lets_go(
    nodes: int | str, reasons: list[str], most: int
) -> None:
    budget = NodeDisruptionBudget.model_validate({"nodes": nodes, "reasons": reasons})
    counted = budget_auditor.allowed([budget], DisruptionReason.CONSOLIDATION, nodes=5, wall=START)
    assert counted == most


def with_budget(told: NodePool, nodes: int) -> NodePool:
    budgets = (NodeDisruptionBudget.model_validate({"nodes": nodes}),)
    spec = told.spec.model_copy(update={"disruption": Disruption(budgets=budgets)})
    return told.model_copy(update={"spec": spec})


def add_pool(living: Living, nodes: int) -> None:
    """A pool of three nodes with this budget."""
    living.server.create("NodePool", with_budget(pool(), nodes))
    labels = {POOL_LABEL: "default", MANAGED_BY_LABEL: MANAGED_BY}
    for name in ("one", "two", "three"):
        living.server.create("nodes", build.node(name, labels=labels))


def disrupt(living: Living, *names: str) -> str:
    for name in names:
        living.server.create("NodeRemovalRequest", removal(name, reason="Consolidation"))
    return "" if living.auditor.found is None else living.auditor.found.rule


def test_a_removal_beyond_the_budgets_of_a_pool_is_a_breach(living: Living) -> None:
    add_pool(living, 1)
    assert disrupt(living, "one", "two") == OF_POOLS


def test_a_process_may_know_late_that_people_changed_a_budget(living: Living) -> None:
    add_pool(living, 1)
    living.server.change("NodePool", Key("", "default"), lambda old: with_budget(old, 0))
    assert not disrupt(living, "one")
    living.timeline.run(living.timeline.now + KNOWN_WITHIN + 1.0)
    assert disrupt(living, "two") == OF_POOLS


def test_people_take_back_what_they_write_into_a_pool(living: Living) -> None:
    living.server.create("NodePool", pool())
    living.server.create("NodePool", pool("batch"))
    usual = {each.spec.disruption for each in living.server.kind("NodePool").objects.values()}
    People(living).strokes[SimulatedFault.POOL_BUDGETS](Chance(1, "test"))
    pools = living.server.kind("NodePool").objects
    assert any(each.spec.disruption.budgets in POOL_BUDGETS for each in pools.values())
    living.timeline.run(living.timeline.now + 1300.0)
    assert {each.spec.disruption for each in pools.values()} == usual
