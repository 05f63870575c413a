"""Another growth in the same project: the simulation notices if growth touches its machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growth.kube.cache.resource import Key
from reconciler.simulation.catalogue import pools
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.people import LOOKS_AFTER, People
from reconciler.simulation.second_writer import TOLD, TOLD_WITHIN, UNTOUCHED, SecondWriter
from reconciler.simulation.story import Story
from tests.removal.build import removal
from tests.simulation.build import with_removal_held

if TYPE_CHECKING:
    from reconciler.providers.port import Machine

STORY = Story(seed=1, minutes=60.0, faults=(SimulatedFault.SECOND_WRITER,), workloads=0)
LABELLED = pytest.mark.parametrize("label", ["a11e", ""], ids=["labelled", "by time"])


def copied(label: str, *, at: float = 100.0) -> Living:
    """A cluster in which growth has led from the start, and another one has bought a machine."""
    living = Living(STORY, SimulatedJoining.AT_ONCE)
    for pool in pools(Chance(1, "pools")):
        living.server.create("NodePool", pool)
    living.cloud.installation = label
    living.lives.begin()
    if living.lives.leader is not None:
        living.lives.leader.is_frozen = True
    copy = SecondWriter(living)
    living.timeline.run(at)
    copy.strokes[SimulatedFault.SECOND_WRITER](Chance(5, "test"))
    return living


def bought(living: Living) -> Machine:
    return next(iter(living.cloud.foreign.values()))


def passes(living: Living, seconds: float) -> None:
    living.timeline.run(living.timeline.now + seconds)


def breached(living: Living) -> str:
    found = living.auditor.found
    return "" if found is None else found.rule


@LABELLED
def test_a_removal_of_its_machine_is_a_breach(label: str) -> None:
    living = copied(label)
    passes(living, 1.0)
    orphan = removal(bought(living).name, reason="Orphan")
    living.server.create("NodeRemovalRequest", orphan)
    assert breached(living) == UNTOUCHED


@LABELLED
def test_the_deletion_of_its_machine_is_a_breach(label: str) -> None:
    living = copied(label)
    living.cloud.delete(bought(living))
    assert breached(living) == UNTOUCHED


def test_without_a_label_what_it_bought_before_this_process_is_an_orphan() -> None:
    living = copied("", at=30.0)
    orphan = removal(bought(living).name, reason="Orphan")
    living.server.create("NodeRemovalRequest", orphan)
    assert not breached(living)


@LABELLED
def test_people_must_be_told_of_it(label: str) -> None:
    living = copied(label)
    passes(living, TOLD_WITHIN - 1.0)
    assert not breached(living)
    assert living.cloud.foreign
    passes(living, 2.0)
    assert breached(living) == TOLD


def test_a_person_tells_the_two_apart() -> None:
    living = copied("a11e")
    People(living)
    key = Key("", "default")
    living.server.change("NodePool", key, lambda pool: with_removal_held(pool, "AnotherWriter"))
    passes(living, LOOKS_AFTER[1])
    assert not living.cloud.foreign
