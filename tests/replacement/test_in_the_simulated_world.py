"""Clusters that are too large for what they carry, in virtual time."""

from __future__ import annotations

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


CPU = {"a": "250m", "b": "500m", "c": "1500m", "d": "900m"}


def test_after_a_drop_it_gets_cheaper_and_comes_to_rest() -> None:
    town = Town()
    town.passes(15)
    for name, cpu in CPU.items():
        town.wants(name, 20, cpu=cpu)
    town.passes(90)
    evicted = town.evicted
    for name in CPU:
        town.wants(name, 8)
    town.passes(300)
    asked = 8 * (0.25 + 0.5 + 1.5 + 0.9)
    assert town.cost <= 1.5 * asked * 0.036 / 8, "nobody steers the scheduler here"
    assert town.evicted - evicted <= 1.5 * 32, "few pods are moved twice"
    assert not town.waiting
    before = town.seen
    town.passes(1800)
    assert town.seen == before
