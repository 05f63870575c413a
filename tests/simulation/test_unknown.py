"""A machine that nobody knows has to be found in time, unless too many are lost at once."""

from __future__ import annotations

import pytest

from growth.kube.cache.resource import Key
from reconciler.simulation.cloud import SimulatedJoining, SimulatedMachine
from reconciler.simulation.living import Living
from reconciler.simulation.people import LOOKS_AFTER, People
from reconciler.simulation.story import Story
from reconciler.simulation.unknown import FOUND_WITHIN
from tests.hetzner.build import order
from tests.reconciler.build import pool
from tests.removal.build import removal
from tests.scheduling import build
from tests.simulation.build import with_removal_held

CALM = Story(seed=1, minutes=60.0, faults=(), workloads=0)
A_LONG_TIME = 3 * FOUND_WITHIN


@pytest.fixture
def living() -> Living:
    """Twenty machines with their Nodes, without growth."""
    living = Living(CALM, SimulatedJoining.AT_ONCE)
    for number in range(20):
        name = f"default-{number}"
        living.cloud.machines[name] = SimulatedMachine(order=order(name), made_at=0.0)
        living.server.create("nodes", build.node(name))
    return living


def lose(living: Living, *numbers: int) -> None:
    """Somebody deletes the Nodes of these machines."""
    for name in (f"default-{number}" for number in numbers):
        living.cloud.forgotten.add(name)
        living.server.delete("nodes", Key("", name))


def passes(living: Living, seconds: float) -> None:
    living.timeline.run(living.timeline.now + seconds)


def breached(living: Living) -> str:
    found = living.auditor.found
    return "" if found is None else found.rule


def test_a_machine_that_is_not_found_in_time_is_a_breach(living: Living) -> None:
    lose(living, 1)
    passes(living, FOUND_WITHIN - 1)
    assert not breached(living)
    passes(living, 2)
    assert breached(living) == "every machine is known"


def test_a_machine_with_a_removal_is_found(living: Living) -> None:
    lose(living, 1)
    living.server.create("NodeRemovalRequest", removal("default-1", reason="Orphan"))
    passes(living, A_LONG_TIME)
    assert not breached(living)


def test_machines_that_are_lost_together_with_too_many_others_wait_for_a_person(
    living: Living,
) -> None:
    lose(living, 1, 2, 3)
    passes(living, A_LONG_TIME)
    assert not breached(living)
    living.cloud.die("default-3")
    passes(living, FOUND_WITHIN - 1)
    assert not breached(living)
    passes(living, 2)
    assert breached(living) == "every machine is known"


def test_a_machine_that_was_found_long_ago_is_not_lost_together_with_others(
    living: Living,
) -> None:
    lose(living, 1)
    living.server.create("NodeRemovalRequest", removal("default-1", reason="Orphan"))
    passes(living, FOUND_WITHIN)
    lose(living, 2, 3)
    passes(living, FOUND_WITHIN + 1)
    assert breached(living) == "every machine is known"


def test_a_person_deletes_the_machines_that_a_pool_says_are_held_back(living: Living) -> None:
    People(living)
    lose(living, 1, 2, 3)
    living.server.create("NodePool", pool())
    living.server.change("NodePool", Key("", "default"), with_removal_held)
    passes(living, LOOKS_AFTER[1] + 1)
    assert len(living.cloud.machines) == 17
