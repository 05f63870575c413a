"""When a run is judged: what began a moment before its end may go on."""

from __future__ import annotations

import pytest

from growth.api.wellknown import REPLACES_ANNOTATION
from reconciler.simulation.process import Parts
from reconciler.simulation.run import SETTLED, Simulation
from reconciler.simulation.story import Story
from tests.reconciler.build import request

QUIET = Story(seed=5, minutes=1.0, faults=(), workloads=0)
SWAP = '{"nodes": ["default-of-before"], "of": 1, "reason": "Consolidation"}'


@pytest.mark.parametrize("before_the_end", [1.0, SETTLED / 2, SETTLED - 1.0])
def test_a_replacement_that_begins_shortly_before_the_end_is_awaited(before_the_end: float) -> None:
    simulation = Simulation(QUIET, Parts(), keep=None)
    made = request("default-0a1b2c3d-0000-4000-8000-000000000000")
    told = {"annotations": {REPLACES_ANNOTATION: SWAP}}
    made = made.model_copy(update={"metadata": made.metadata.model_copy(update=told)})
    living = simulation.living
    living.timeline.at(QUIET.end - before_the_end, living.server.create, "NodeRequest", made)

    outcome = simulation.run()

    assert outcome.breaches == ()
    assert outcome.bought == 1
