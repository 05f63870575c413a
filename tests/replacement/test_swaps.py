"""Nodes that are dearer than what runs on them."""

from __future__ import annotations

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
        "replaces 1 x large by 1 x small: the same pods fit on less; "
        "3.0000 an hour become 1.0000, which saves 2.0000"
    )
    assert renewer.events == [("default-1", "Consolidating", note)]
