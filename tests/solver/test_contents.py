"""All contents of nodes that a better plan could use: none is missing, and none is too much."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reconciler.solver.arrays.setting import setting_of
from reconciler.solver.bound.bound import DualValues
from reconciler.solver.bound.contents import full_contents
from reconciler.solver.model.budget import Budget
from tests.solver.problems import plain, ruled

if TYPE_CHECKING:
    from reconciler.solver.arrays.table import Table

Content = tuple[int, tuple[int, ...]]


def budget(ticks: int = 10_000_000) -> Budget:
    return Budget(ticks, monotonic() + 3600)


def values(table: Table) -> DualValues:
    """Any will do: what a unit takes of both resources, and what they are thought to cost."""
    return DualValues(
        units=table.size.sum(axis=1) * 100.0,
        limits=np.zeros(len(table.limits)),
        minima=np.zeros(len(table.minima)),
        resources=np.full((1, table.size.shape[1]), 80.0),
    )


def holds(table: Table, o: int, counts: tuple[int, ...]) -> bool:
    present = [k for k, n in enumerate(counts) if n]
    ceiling = np.minimum(table.demand, table.per_node)
    if any(counts[k] > ceiling[k] or not table.allowed[k, o] for k in present):
        return False
    if table.clashes is not None and table.clashes[np.ix_(present, present)].any():
        return False
    return bool((np.array(counts) @ table.size <= table.capacity[o]).all())


def by_trying_everything(table: Table, least: float) -> set[Content]:
    ranges = [range(int(n) + 1) for n in table.demand]
    worth = values(table).units
    found = set()
    for o in range(table.offers):
        for counts in product(*ranges):
            more = (tuple(n + (k == j) for j, n in enumerate(counts)) for k in range(table.classes))
            is_full = not any(holds(table, o, each) for each in more)
            is_worth = float(np.array(counts) @ worth) >= least
            if any(counts) and is_worth and is_full and holds(table, o, counts):
                found.add((o, counts))
    return found


@pytest.mark.parametrize("least", [0.0, 700.0, 1200.0])
@pytest.mark.parametrize("seed", range(30))
def test_the_full_contents_worth_enough_are_found_and_no_others(seed: int, least: float) -> None:
    table = setting_of((ruled if seed % 2 else plain)(seed).in_order()).relaxed
    found = full_contents(table, values(table), np.full(table.offers, least), budget())
    assert found is not None
    told = [(int(o), tuple(c.tolist())) for o, c in zip(found.offers, found.counts, strict=True)]
    assert len(told) == len(set(told))
    assert set(told) == by_trying_everything(table, least)


def test_too_many_contents_are_not_written_down() -> None:
    table = setting_of(plain(39).in_order()).relaxed
    many = replace(table, demand=table.demand * 50, capacity=table.capacity * 50)
    assert full_contents(many, values(many), np.zeros(many.offers), budget(20_000)) is None
