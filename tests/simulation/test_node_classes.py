"""Pools of several node classes in the simulated world."""

from __future__ import annotations

from reconciler.simulation.catalogue import SECOND
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.process import Parts
from reconciler.simulation.run import Simulation
from reconciler.simulation.story import Story

STORY = Story(seed=2, minutes=10.0, faults=(SimulatedFault.SEVERAL_CLASSES,))


def test_each_node_class_lists_its_own_machines() -> None:
    simulation = Simulation(STORY, Parts(), keep=None)
    assert simulation.found_until(200.0) is None
    cloud, leader = simulation.living.cloud, simulation.living.lives.leader
    assert leader is not None
    shown = {
        key.name: frozenset(sight.listing.machines)
        for key, sight in leader.clouds.sights.items()
        if sight.listing is not None
    }
    assert shown.keys() == {"default", SECOND}
    for name, machines in shown.items():
        assert machines
        assert {cloud.class_of(machine).name for machine in machines} == {name}
