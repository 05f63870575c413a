"""The auditor judges each plan by the spread of its pods, as the scheduler counts it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from growth.scheduling.metadata import ObservedCondition
from reconciler import planning
from reconciler.core.actions import Solved
from reconciler.planning import pod_rules
from reconciler.planning.asking import LANE
from reconciler.planning.nominations import Nomination
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.pod_traits import HOST, ZONE, PodTraits, with_traits
from reconciler.simulation.run import run_story
from reconciler.simulation.spread_auditor import SPREAD, Place, SpreadAuditor, against_spread
from reconciler.simulation.story import Story
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve
from tests.reconciler.build import at, node_class, pool, waiting, world
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger

STORY = Story(seed=3, minutes=10.0, faults=(SimulatedFault.SPREAD,))
NODES: dict[str, Node] = {
    name: build.node(name, labels={ZONE: zone})
    for name, zone in (("a", "here"), ("b", "here"), ("c", "there"), ("d", "there"))
}


def spread(name: str, key: str, *, most: int = 1, on: str = "") -> Pod:
    """A pod of the workload `web` that is spread over a key."""
    template = build.pod(name, on=on, metadata={"namespace": "default"})
    traits = PodTraits(spreads=((key, most, "DoNotSchedule"),))
    return with_traits(template, traits, name="web", before="other")


def left_over(key: str, planned: str, *, running: str = "", most: int = 1) -> str:
    """The nodes whose pods are left, of pods planned on these nodes and others that run there."""
    there = [spread(f"old-{n}", key, on=name) for n, name in enumerate(running)]
    places = [
        Place(spread(f"new-{n}", key, most=most), NODES[name]) for n, name in enumerate(planned)
    ]
    known = {*planned, *running}
    cluster = build.cluster(*(NODES[name] for name in sorted(known)), *there)
    return "".join(sorted(node.name for _, node in against_spread(places, cluster)))


@pytest.mark.parametrize(
    ("key", "planned", "running", "most", "left"),
    [
        (ZONE, "aacc", "", 1, ""),
        (ZONE, "ccaa", "", 1, ""),
        (ZONE, "aaac", "", 1, "a"),
        (ZONE, "aaac", "", 2, ""),
        (ZONE, "abcd", "", 1, ""),
        (ZONE, "cc", "aaa", 1, ""),
        (ZONE, "ac", "aaa", 1, "a"),
        (ZONE, "a", "c", 1, ""),
        (ZONE, "cc", "a", 1, ""),
        (ZONE, "ccc", "a", 1, "c"),
        (HOST, "abcd", "", 1, ""),
        (HOST, "abcc", "", 1, ""),
        (HOST, "abccc", "", 1, "c"),
        (HOST, "bbb", "ad", 1, "b"),
        (HOST, "bbb", "ad", 2, ""),
    ],
)
def test_a_plan_is_right_if_its_pods_can_be_bound_in_any_order(
    key: str, planned: str, running: str, most: int, left: str
) -> None:
    assert left_over(key, planned, running=running, most=most) == left


def test_a_node_without_the_label_takes_no_pod_that_is_spread_by_it() -> None:
    bare = build.node("bare")
    assert against_spread([Place(spread("new", ZONE), bare)], build.cluster(*NODES.values()))


def test_a_pod_without_a_spread_is_bound_and_counts() -> None:
    other = with_traits(build.pod("other"), PodTraits(), name="web", before="x")
    places = [Place(other, NODES["c"]), Place(spread("new", ZONE), NODES["c"])]
    left = against_spread(places, build.cluster(*NODES.values()))
    assert not left


def test_a_pod_that_gets_a_place_while_the_solver_works_is_counted_once() -> None:
    pod = with_traits(
        waiting(), PodTraits(spreads=((HOST, 1, "DoNotSchedule"),)), name="web", before="x"
    )
    seen = world(*map(_serving, NODES.values()), pod, pool(), node_class())
    asking = _remembering(seen, planning.decide(seen, at(100)).section)
    asked = planning.decide(asking, at(110)).section
    assert asked is not None
    assert asked.asked is not None
    plan = solve(asked.asked.question.problem, Effort.QUICK)
    place = Nomination(machine=plan.nodes[0].offer, shape=pod.shape, is_bought_for=False)
    nominated = asked.nominated.with_places({pod.metadata.uid: place})
    read = _remembering(seen, replace(asked, nominated=nominated))
    solved = Solved(number=asked.asked.number, plan=plan)
    breaches: list[tuple[str, str]] = []
    auditor = SpreadAuditor(lambda *breach: breaches.append(breach))
    auditor.decides("one", asking, at(110))
    auditor.decides("one", _remembering(seen, asked), at(111))
    auditor.decides("one", msgspec.structs.replace(read, plans={LANE: solved}), at(112))
    assert not breaches


def _serving(node: Node) -> Node:
    ready = ObservedCondition(type="Ready", status="True")
    return msgspec.structs.replace(
        node, status=msgspec.structs.replace(node.status, conditions=(ready,))
    )


def _remembering(seen: World, planned: PlanningLedger | None) -> World:
    assert planned is not None
    return seen.remembering(replace(seen.ledger, planning=planned))


def test_plans_keep_the_spread_of_their_pods() -> None:
    assert not run_story(STORY).breaches


def test_a_planner_that_forgets_spreads_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_rules, "_spreads", lambda *_: ())
    (breach,) = run_story(STORY).breaches
    assert breach.rule == SPREAD
