"""A machine whose Node somebody has deleted is still paid for, and counts until it is gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from typing_extensions import override

from reconciler.core.caps import Caps
from reconciler.facts.fleet import fleet
from reconciler.ledger import Ledger
from reconciler.providers.port import MachineState, Sight
from tests.planning.driver import Planner
from tests.reconciler.build import node_class, request, waiting
from tests.reconciler.build import pool as made
from tests.removal.build import CLOUD, listing, machine, node, world

if TYPE_CHECKING:
    from reconciler.brakes.rule import BrakesLedger
    from reconciler.core.world import World
    from reconciler.providers.port import Machine

ONE = made(limits={"nodes": 1})
BELIEVED: BrakesLedger = world().ledger.brakes
LISTED: dict[str, tuple[World, int]] = {
    "no object tells of it": (world(ONE, shown=(machine(),)), 1),
    "its node is there": (world(ONE, node(), shown=(machine(),)), 1),
    "its request is there": (
        world(ONE, request(status={"phase": "Provisioning"}), shown=(machine(),)),
        1,
    ),
    "its request has failed": (
        world(ONE, request(status={"phase": "Unmet"}), shown=(machine(),)),
        0,
    ),
    "the provider deletes it": (world(ONE, shown=(machine(state=MachineState.DELETING),)), 0),
    "the listing is not believed": (
        world(ONE, shown=(machine(),)).remembering(Ledger(brakes=replace(BELIEVED, clouds={}))),
        0,
    ),
}


@pytest.mark.parametrize(("given", "number"), LISTED.values(), ids=LISTED.keys())
def test_a_listed_machine_counts_once_among_the_nodes_of_its_pool_if(
    given: World, number: int
) -> None:
    found = fleet(given, given.requests.values())
    assert len(list(found.of("default"))) == number


class Watched(Planner):
    """A planner whose cloud lists machines, and whose operator has set a cap."""

    def __init__(self, *objects: Any, caps: Caps, listed: tuple[Machine, ...]) -> None:
        super().__init__(*objects)
        self.brakes = BELIEVED
        self.caps = caps
        self.listed = listed

    @override
    def _world(self) -> World:
        sight = Sight(listing=listing(*self.listed))
        return msgspec.structs.replace(super()._world(), caps=self.caps, clouds={CLOUD: sight})


@pytest.mark.parametrize(
    ("pool", "caps", "limit"),
    [
        (ONE, Caps(), "limits.nodes"),
        (made(), Caps(nodes=1), "1 nodes in all pools together (--max-nodes)"),
    ],
    ids=["of its pool", "of all pools"],
)
def test_beyond_the_limit_nothing_is_bought_until_the_listed_machine_is_gone(
    pool: Any, caps: Caps, limit: str
) -> None:
    planner = Watched(waiting(), pool, node_class(), caps=caps, listed=(machine(),))

    assert planner.soon() == []
    assert limit in next(iter(planner.memory.tries.values())).reason

    planner.listed = ()
    assert len(planner.until(planner.now + 1.5)) == 1
