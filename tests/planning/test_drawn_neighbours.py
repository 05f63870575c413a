"""For drawn clusters with affinity, the plan is the best that the scheduler's rules allow."""

from __future__ import annotations

import pytest

from growth.scheduling.node import Node
from reconciler.paper.planned import plan_offline
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve
from tests.planning.drawn_neighbours import COPIES, best, can_be_bound, drawn, new_node, shares
from tests.reconciler.build import node_class, pool, world

BATCH = 10


def _is_planned_as_by_trying_everything(seed: int) -> None:
    drawing = drawn(seed)
    types = [{"name": name, "max": COPIES} for name in ("small", "large")]
    seen = world(*drawing.there, *drawing.waiting, pool(serverTypes=types), node_class())
    found = plan_offline(seen, lambda problem: solve(problem, Effort.NORMAL))
    nodes = {each.name: each for each in drawing.there if isinstance(each, Node)}
    nodes |= {
        name: new_node(name, each.spec.server_type.canonical, each.spec.location)
        for name, each in found.requests.items()
    }
    assert can_be_bound(drawing, shares(found.pods, nodes))
    cost = sum(int(each.spec.price) for each in found.requests.values())
    assert (len(found.unplaced), cost) == best(drawing)


@pytest.mark.parametrize("start", range(0, 20, BATCH))
def test_pods_that_look_at_others_are_planned_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + BATCH):
        _is_planned_as_by_trying_everything(seed)


@pytest.mark.long
@pytest.mark.parametrize("start", range(20, 220, BATCH))
def test_hundreds_of_clusters_are_planned_as_by_trying_everything(start: int) -> None:
    for seed in range(start, start + BATCH):
        _is_planned_as_by_trying_everything(seed)
