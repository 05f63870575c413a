"""A search asks what planning would ask pod by pod, and no pass waits until it is stated."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth.demand.pools import pools_of
from growth.keeping.occupants import Occupants, OccupantsAnswer
from growth.keeping.wanting import Keeping, KeepingReason
from growth.scheduling.occupancy import Occupancy
from reconciler import replacement
from reconciler.buying.market import market
from reconciler.core.actions import Solve
from reconciler.effects.lanes import Lanes
from reconciler.facts.listings import clouds
from reconciler.facts.requested import all_requests
from reconciler.planning.capacity import ground
from reconciler.planning.problem import planning_problem
from reconciler.replacement.asking import idle_nodes, unbound, without
from reconciler.replacement.candidates import (
    ReplacementCandidate,
    ReplacementLook,
    movable,
)
from reconciler.replacement.searching import NOTHING_TO_ASK, ReplacementSearch
from reconciler.solver import Effort, Renewed
from reconciler.solver.answering import solve_within
from tests.reconciler.build import at, pool
from tests.removal.build import machine, world
from tests.replacement.renewer import Renewer, running, standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.solver import Renewal

ZONES = ("here", "there")
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "spread"}},
}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "apart"}},
                "topologyKey": "topology.kubernetes.io/zone",
            }
        ]
    }
}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "small": {"cpu": "50m"},
    "spread": {"topologySpreadConstraints": [SPREAD]},
    "apart": {"affinity": APART},
    "waits for apart": {"priority": -1},
    "choosy": {"nodeSelector": {"topology.kubernetes.io/zone": "here"}},
    "with a port": {
        "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    },
    "of tomorrow": {"tolerations": [{"key": "a", "operator": "Near"}]},
}
LABELS = {"waits for apart": "apart"}
nodes_of_pods = st.lists(
    st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4), min_size=1, max_size=5
)


def in_zone(name: str, zone: str) -> Node:
    """A large node there."""
    made = standing(name, "large")
    labels = {**made.labels, "topology.kubernetes.io/zone": zone}
    return msgspec.structs.replace(
        made, metadata=msgspec.structs.replace(made.metadata, labels=labels)
    )


def seen_with(held: Sequence[Sequence[str]]) -> World:
    """A large node for each list, which holds a pod of each kind that it names."""
    nodes = [in_zone(f"default-{number}", ZONES[number % 2]) for number in range(len(held))]
    pods = [
        running(
            f"{kind}-{number}-{each}".replace(" ", "-"),
            f"default-{number}",
            metadata={"labels": {"app": LABELS.get(kind, kind)}},
            **KINDS[kind],
        )
        for number, kinds in enumerate(held)
        for each, kind in enumerate(kinds)
    ]
    return Renewer(*nodes, *pods).world()


def candidates_in(seen: World) -> tuple[ReplacementCandidate, ...]:
    return tuple(
        ReplacementCandidate(
            node=node,
            pool=seen.pools["default"],
            pods=seen.cluster.occupancy(name).keepers,
            price=3_000_000,
        )
        for name, node in sorted(seen.cluster.nodes.items())
    )


def search_in(seen: World) -> ReplacementSearch:
    return ReplacementSearch(
        found=candidates_in(seen),
        world=seen,
        now=at(1000.0),
        most={"default": 9},
        horizon=3600.0,
        currency="",
    )


def asked_pod_by_pod(seen: World, search: ReplacementSearch, names: frozenset[str]) -> Any:
    """What planning would ask if the pods of these nodes were pending."""
    here = without(seen, idle_nodes(seen))
    pods = unbound(pod for each in search.found if each.name in names for pod in each.pods)
    planning = seen.ledger.planning
    return planning_problem(
        pods,
        ground(here, all_requests(here), planning.nominated, planning.shelf.items),
        market(here, search.now),
        pools_of={pod.metadata.uid: pools_of(pod, here.pools) for pod in pods},
        nominated=planning.nominated,
    )


@settings(max_examples=60, deadline=None)
@given(nodes_of_pods)
def test_it_asks_what_planning_would_ask_of_each_pod_by_itself(held: list[list[str]]) -> None:
    seen = seen_with(held)
    search = search_in(seen)
    stated: Renewal = search.stated()
    names = frozenset(each.offer for each in stated.standing)
    expected = asked_pod_by_pod(seen, search, names)
    assert not expected.left_out
    assert not expected.waiting
    if names:
        problem = expected.problem.limited_by_node()
        assert stated.problem.classes == problem.classes
        assert stated.problem.groups == problem.groups
        assert stated.problem.limits == problem.limits
        assert stated.problem.offers[: len(problem.offers)] == problem.offers


@given(nodes_of_pods)
@settings(max_examples=30, deadline=None)
def test_a_node_is_asked_about_unless_one_of_its_pods_can_t_be_planned(
    held: list[list[str]],
) -> None:
    seen = seen_with(held)
    stated = search_in(seen).stated()
    asked = {each.offer: each for each in stated.standing}
    for number, kinds in enumerate(held):
        node = asked.get(f"default-{number}")
        if "of tomorrow" in kinds:
            assert node is None
        elif "waits for apart" not in kinds:
            assert node is not None
            assert sum(node.holds.values()) == len(kinds)


def test_nothing_to_ask_is_a_question_whose_answer_is_nothing() -> None:
    seen = seen_with([["of tomorrow"]])
    assert search_in(seen).stated() == NOTHING_TO_ASK
    answer = solve_within(NOTHING_TO_ASK, Effort.QUICK)
    assert isinstance(answer, Renewed)
    assert not answer.goes


class SlowSearch:
    """A search whose statement takes until somebody allows it to end."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def stated(self) -> Renewal:
        assert self.may_end.wait(timeout=30)
        return NOTHING_TO_ASK


async def test_passes_go_on_while_a_search_is_stated() -> None:
    lanes, search = Lanes(), SlowSearch()
    try:
        asked = asyncio.ensure_future(
            lanes.answer(Solve(lane=replacement.LANE, number=1, problem=search))
        )
        for _ in range(3):
            await asyncio.sleep(0)
        assert not asked.done()
        search.may_end.set()
        answer = await asked
        assert isinstance(answer, Renewed)
        assert not answer.goes
    finally:
        search.may_end.set()
        await lanes.close()


HELD = Keeping(reason=KeepingReason.HELD, why="of old", owner="Pod shop/web-0")


@pytest.mark.parametrize("is_of_these_pods", [True, False])
def test_what_the_status_of_pools_has_asked_of_pods_is_not_asked_again(
    *, is_of_these_pods: bool
) -> None:
    seen = world(
        standing("default-1"), running("web-0", "default-1"), pool(), shown=(machine("default-1"),)
    )
    occupancy = seen.cluster.occupancy("default-1") if is_of_these_pods else Occupancy()
    answer = OccupantsAnswer(occupancy=occupancy, keeping=HELD, ends_at=None)
    known = Occupants(budgets=seen.cluster.budgets, answers={"default-1": answer})
    pools = replace(seen.ledger.pools, occupants=known)
    seen = seen.remembering(replace(seen.ledger, pools=pools))
    look = ReplacementLook(world=seen, now=at(1000.0), clouds=clouds(seen), taken=frozenset())
    pods, _ = movable(seen.cluster.nodes["default-1"], look)
    assert (pods is None) is is_of_these_pods
