"""People, pods, measuring and every fault of the simulated world at once: nothing is breached."""

from __future__ import annotations

from random import Random

import pytest

from reconciler.simulation.faults import SimulatedFault
from tests.scaling.desired.group import MINUTE, GroupTold

STEPS, MOST = 40, 8

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_pool_comes_to_its_number_after_a_storm(seed: int) -> None:
    chance = Random(seed)
    told = GroupTold(
        nodes=chance.randint(0, 4),
        maxNodes=MOST,
        scaleDownCooldown="1m",
        underutilizationDuration="2m",
        scaleUpBatchSize=chance.choice([0, 1, 3]),
        story={"seed": seed, "minutes": 180.0, "faults": tuple(SimulatedFault)},
    )
    for _ in range(STEPS):
        disturbed(told, chance)
        told.passes(MINUTE)
    told.wants(2, cpu="900m")
    told.measured.usual, told.measured.fails = 80, False
    told.scaled(desiredNodes=2)
    told.passes(60 * MINUTE)
    assert told.status.desired_nodes == 2
    assert len(told.nodes) == 2
    assert told.pending() == 0


def disturbed(told: GroupTold, chance: Random) -> None:
    """Somebody or something does one thing, or nothing."""
    match chance.randrange(8):
        case 0 | 1:
            told.wants(chance.randint(0, 12), cpu="900m")
        case 2 | 3:
            told.scaled(desiredNodes=chance.randint(0, MOST - 1))
        case 4:
            told.measured.usual = chance.choice([5, 30, 80, None])
        case 5:
            told.measured.fails = not told.measured.fails
        case _:
            pass
