"""Clusters that are too large for what they carry, in virtual time."""

from __future__ import annotations

import pytest

from tests.replacement.town import Town

SMALL = {"small": ("2", "4Gi", "0.010")}


def test_half_empty_nodes_become_fewer() -> None:
    town = Town(types=SMALL)
    town.passes(15)
    town.wants("web", 16)
    town.passes(60)
    town.wants("web", 8)
    town.passes(300)
    assert town.types == {"small": 2}
    assert not town.waiting


def test_two_large_nodes_become_a_smaller_one() -> None:
    town = Town()
    town.passes(15)
    town.wants("web", 32)
    town.passes(60)
    town.wants("web", 5)
    town.passes(300)
    assert town.types == {"medium": 1}
    assert not town.waiting
    assert town.reasons["Consolidation"]


def test_a_cluster_that_has_come_to_rest_stays_as_it_is_for_half_an_hour() -> None:
    town = Town()
    town.passes(15)
    for number in range(6):
        town.wants(f"web-{number}", 5, cpu=("300m", "700m", "1100m")[number % 3])
    town.passes(60)
    for number in range(6):
        town.wants(f"web-{number}", 2)
    town.passes(300)
    names, opened = {node.name for node in town.nodes}, len(town.opened)
    places = {(pod.metadata.uid, pod.spec.node_name) for pod in town.pods}
    town.passes(1800)
    assert {node.name for node in town.nodes} == names
    assert {(pod.metadata.uid, pod.spec.node_name) for pod in town.pods} == places
    assert len(town.opened) == opened


@pytest.mark.parametrize("number", [30, 200])
def test_after_a_drop_the_cluster_costs_what_a_new_one_would(number: int) -> None:
    town = Town()
    town.passes(15)
    for name in ("a", "b", "c"):
        town.wants(name, number // 3, cpu={"a": "250m", "b": "500m", "c": "1500m"}[name])
    town.passes(90)
    for name in ("a", "b", "c"):
        town.wants(name, number * 4 // 30)
    town.passes(300)
    cpu = number * 4 / 30 * (0.25 + 0.5 + 1.5)
    cheapest_core = 0.036 / 8
    assert town.cost <= 1.1 * cpu * cheapest_core + 0.010
    assert not town.waiting
