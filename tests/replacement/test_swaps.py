"""Nodes that are dearer than what runs on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from growth.api.disruption import DisruptionReason
from growth.api.noderequest import RequestPhase
from growth.api.wellknown import REPLACES_ANNOTATION
from reconciler.buying.market import market
from reconciler.facts.swap_annotation import read_swap, swap_text
from reconciler.facts.wanted import reason_to_stay
from reconciler.planning.nominations import Nominated, Nomination
from reconciler.planning.tries import Try
from reconciler.replacement import asking
from reconciler.replacement.judging import has_changed
from reconciler.replacement.ledger import PendingProof
from tests.reconciler.build import at, request, waiting
from tests.replacement.renewer import Renewer, running, standing


def half_empty(number: int = 4) -> list[object]:
    """Small nodes with one pod each, of which each holds four."""
    return [
        each
        for count in range(number)
        for each in (standing(f"default-{count}"), running(f"web-{count}", f"default-{count}"))
    ]


def test_pods_that_fit_on_fewer_nodes_leave_the_others() -> None:
    renewer = Renewer(*half_empty())
    renewer.passes(60)
    assert len(renewer.gone) == 3
    assert not renewer.created
    assert {each.spec.reason.value for each in renewer.opened} == {"Consolidation"}


def test_nodes_that_were_left_alone_for_a_moment_only_stay() -> None:
    renewer = Renewer(*half_empty())
    renewer.passes(14)
    assert not renewer.gone
    renewer.passes(4)
    assert renewer.gone


def test_a_large_node_makes_way_for_a_small_one_that_serves_before() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.serves_after = 30.0
    renewer.passes(40)
    (request,) = renewer.created
    assert request.spec.server_type.canonical == "small"
    assert not renewer.gone
    renewer.passes(30)
    assert renewer.gone == ["default-1"]


def test_what_goes_is_told_with_what_it_saves() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.passes(40)
    note = (
        "replaces 1 x large with 1 x small: the same pods cost less elsewhere; "
        "this saves 2.0000 of 3.0000 per hour"
    )
    assert renewer.events == [("default-1", "Consolidating", note)]


def test_a_cluster_that_is_as_cheap_as_it_can_be_is_asked_about_once() -> None:
    full = [running(f"web-{n}", "default-1") for n in range(4)]
    renewer = Renewer(standing("default-1"), *full)
    renewer.passes(1800)
    assert renewer.asked == ["Renewal"]
    assert not renewer.gone


def test_nothing_is_begun_while_a_pod_waits_for_a_node() -> None:
    renewer = Renewer(*half_empty(), waiting("late-0", requests={"cpu": "100m"}))
    renewer.passes(120)
    assert not renewer.asked


def test_a_pod_that_no_plan_has_a_place_for_holds_nothing_up() -> None:
    huge = waiting("huge-0", requests={"cpu": "99"})
    renewer = Renewer(*half_empty(), huge)
    renewer.tries = {huge.metadata.uid: Try(count=9, counted_at=1000.0)}
    renewer.passes(120)
    assert renewer.gone


def test_nothing_is_begun_while_a_machine_is_on_its_way() -> None:
    renewer = Renewer(*half_empty(), request("default-9"))
    renewer.passes(120)
    assert not renewer.asked


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nodes":5}', '{"x":' + "[" * 100_000])
def test_words_of_a_swap_that_nobody_of_us_wrote_say_nothing(text: str) -> None:
    assert read_swap(text) is None


def test_a_swap_is_given_up_when_its_machine_cannot_be_had() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.serves_after = 1e9
    renewer.passes(40)
    (made,) = renewer.created
    renewer.moves(made.name, RequestPhase.UNMET)
    renewer.passes(10)
    assert renewer.memory.resting.keys() == {"default-1"}
    renewer.remove(made)
    renewer.passes(300)
    assert len(renewer.created) == 1, "the old node rests"
    assert not renewer.gone


def test_a_node_whose_rest_is_over_may_be_chosen_again() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.serves_after = 1e9
    renewer.passes(40)
    renewer.moves(renewer.created[0].name, RequestPhase.UNMET)
    renewer.passes(10)
    renewer.remove(renewer.created[0])
    renewer.serves_after = 1.0
    renewer.passes(700)
    assert renewer.gone == ["default-1"]


def test_a_machine_whose_room_others_took_is_an_ordinary_one() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.serves_after = 20.0
    renewer.passes(20)
    (made,) = renewer.created
    renewer.put(*(running(f"late-{n}", made.name) for n in range(4)))
    renewer.passes(30)
    assert "default-1" not in renewer.gone
    assert REPLACES_ANNOTATION not in renewer.node(made.name).metadata.annotations
    assert renewer.memory.resting.keys() == {"default-1"}


def test_a_machine_that_comes_after_its_swap_was_given_up_is_cancelled() -> None:
    renewer = Renewer(
        *(standing(f"default-{n}", "large") for n in range(2)),
        *(running(f"web-{n}", f"default-{n}", cpu="1900m") for n in range(2)),
    )
    renewer.serves_after = 1e9
    renewer.passes(40)
    first, *others = renewer.created
    assert others, "two small ones take the place of two large ones"
    renewer.moves(first.name, RequestPhase.UNMET)
    renewer.passes(10)
    assert ("NodeRequest", "", others[0].name) not in renewer.objects


def test_a_drain_that_was_rolled_back_lets_its_node_rest() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.passes(40)
    (removal,) = renewer.opened
    renewer.remove(removal)
    renewer.passes(300)
    assert len(renewer.opened) == 1
    assert renewer.memory.resting.keys() == {"default-1"}
    assert all(REPLACES_ANNOTATION not in each.metadata.annotations for each in renewer.nodes)


def test_the_next_search_waits_for_the_end_of_a_drain() -> None:
    renewer = Renewer(*half_empty(2), standing("default-9", "large"), running("big", "default-9"))
    renewer.passes(60)
    asked = len(renewer.asked)
    assert renewer.gone
    renewer.passes(300)
    assert len(renewer.asked) == asked


def test_a_limit_that_leaves_no_room_for_both_lets_only_those_go_that_need_nothing_new() -> None:
    renewer = Renewer(
        standing("default-1", "large"),
        running("web-1", "default-1", cpu="1900m"),
        *half_empty(3)[2:],
        limits={"nodes": 3},
    )
    renewer.passes(60)
    assert not renewer.created
    assert len(renewer.gone) == 1


def test_what_a_pool_keeps_at_least_stays() -> None:
    types = [{"name": "small", "max": 10, "min": 3}]
    renewer = Renewer(*half_empty(4), serverTypes=types)
    renewer.passes(60)
    assert len(renewer.gone) == 1


def test_a_pool_that_wants_no_consolidation_is_left_alone() -> None:
    never = {"consolidation": "Never", "budgets": [{"nodes": "100%"}]}
    renewer = Renewer(*half_empty(), disruption=never)
    renewer.passes(120)
    assert not renewer.asked


@pytest.mark.parametrize(("budget", "most"), [("10%", 1), ("50%", 2), (0, 0), (3, 3)])
def test_no_more_nodes_go_at_one_time_than_the_pool_allows(budget: object, most: int) -> None:
    renewer = Renewer(*half_empty(4), disruption={"budgets": [{"nodes": budget}]})
    renewer.passes(300)
    assert len(renewer.gone) == most


def test_the_next_ones_go_when_the_first_are_gone() -> None:
    renewer = Renewer(*half_empty(4), disruption={"budgets": [{"nodes": 1}]})
    for _ in range(3):
        renewer.passes(60)
        renewer.drain()
    renewer.passes(60)
    assert len(renewer.nodes) == 1


def test_a_drain_without_a_swap_that_was_rolled_back_lets_its_node_rest_too() -> None:
    renewer = Renewer(*half_empty(2))
    renewer.passes(40)
    (removal,) = renewer.opened
    renewer.remove(removal)
    renewer.passes(100)
    assert renewer.memory.resting.keys() == {removal.name}


def test_nodes_that_come_during_a_drain_are_looked_at_after_it() -> None:
    renewer = Renewer(*half_empty(2))
    renewer.passes(40)
    assert len(renewer.gone) == 1
    late = [(standing(f"late-{n}"), running(f"late-{n}", f"late-{n}")) for n in range(2)]
    renewer.put(*(each for pair in late for each in pair))
    renewer.passes(120)
    assert len(renewer.gone) == 1
    renewer.drain()
    renewer.passes(60)
    assert len(renewer.gone) > 1


def test_an_answer_about_pods_that_are_others_by_now_is_no_answer() -> None:
    renewer = Renewer(*half_empty(1))
    world = renewer.world()
    (pod,) = world.cluster.occupancy("default-0").keepers
    known = PendingProof(
        number=1,
        nodes={"default-0": frozenset({pod.metadata.uid})},
        reason=DisruptionReason.CONSOLIDATION,
        why="",
        question=asking.proof([pod], frozenset(), world, market(world, at(100))),
    )
    assert not has_changed(known, world, at(100))
    others = msgspec.structs.replace(known, nodes={"default-0": frozenset({"another"})})
    assert has_changed(others, world, at(100))


def test_a_node_that_takes_anothers_place_isn_t_idle_as_long_as_that_is_there() -> None:
    text = swap_text(["default-0"], of=1, reason=DisruptionReason.CONSOLIDATION)
    new = standing("default-9", annotations={REPLACES_ANNOTATION: text})
    renewer = Renewer(*half_empty(1), new)
    assert "default-0" in reason_to_stay(new, renewer.world(), frozenset())
    renewer.remove(renewer.node("default-0"))
    assert not reason_to_stay(new, renewer.world(), frozenset())


HOLDS: dict[str, dict[str, Any]] = {
    "cordoned": {"unschedulable": True},
    "protected": {"annotations": {"growth.dev/do-not-disrupt": "true"}},
}


def two_large_ones_make_way() -> Renewer:
    """Two small nodes are on their way in the place of two large ones."""
    renewer = Renewer(
        *(standing(f"default-{n}", "large") for n in range(2)),
        *(running(f"web-{n}", f"default-{n}", cpu="1900m") for n in range(2)),
    )
    renewer.serves_after = 30.0
    renewer.passes(40)
    assert len(renewer.created) == 2
    assert not renewer.gone
    return renewer


@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS.keys())
def test_a_node_that_a_person_holds_since_stays_and_the_others_go(hold: dict[str, Any]) -> None:
    renewer = two_large_ones_make_way()
    renewer.put(held := standing("default-1", "large", **hold))
    renewer.passes(60)
    assert renewer.gone == ["default-0"]
    assert renewer.node("default-1") == held


@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS.keys())
def test_a_swap_of_which_a_person_holds_all_nodes_is_given_up(hold: dict[str, Any]) -> None:
    renewer = two_large_ones_make_way()
    renewer.put(*(standing(f"default-{n}", "large", **hold) for n in range(2)))
    renewer.passes(60)
    assert not renewer.gone
    assert all(REPLACES_ANNOTATION not in each.metadata.annotations for each in renewer.nodes)


def test_the_rest_of_a_swap_is_given_up_when_what_remains_is_held() -> None:
    """Or nothing else would ever be asked again."""
    renewer = two_large_ones_make_way()
    renewer.put(standing("default-1", "large", **HOLDS["cordoned"]))
    renewer.passes(60)
    renewer.drain()
    renewer.passes(60)
    assert all(REPLACES_ANNOTATION not in each.metadata.annotations for each in renewer.nodes)


def test_a_node_that_a_person_holds_since_is_no_part_of_an_answer() -> None:
    free = Renewer(standing("default-0")).world()
    asked = PendingProof(
        number=1,
        nodes={"default-0": frozenset()},
        reason=DisruptionReason.CONSOLIDATION,
        why="",
        question=asking.proof([], frozenset(), free, market(free, at(100))),
    )
    assert not has_changed(asked, free, at(100))
    held = Renewer(standing("default-0", unschedulable=True))
    assert has_changed(asked, held.world(), at(100))


def test_a_node_that_is_promised_to_a_pod_since_is_no_part_of_an_answer() -> None:
    free = Renewer(standing("default-0")).world()
    asked = PendingProof(
        number=1,
        nodes={"default-0": frozenset()},
        reason=DisruptionReason.CONSOLIDATION,
        why="",
        question=asking.proof([], frozenset(), free, market(free, at(100))),
    )
    place = Nomination(machine="default-0", shape=waiting().shape, is_bought_for=False)
    planning = replace(free.ledger.planning, nominated=Nominated(places={"late": place}))
    promised = free.remembering(replace(free.ledger, planning=planning))
    assert has_changed(asked, promised, at(100))
