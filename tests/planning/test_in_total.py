"""Caps for all pools together hold whatever the pools allow, and say what they keep away."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest

from reconciler.core.actions import CreateNodeRequest
from reconciler.core.caps import Caps
from reconciler.facts.requested import Bought
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from tests.planning.driver import Planner
from tests.reconciler.build import RELEASED, node_class, pool, request, waiting, world
from tests.reconciler.solved import planned

SMALL = [{"name": "small", "max": 10}]
LAST_HOUR = {f"gone-{number}": Bought(pool="other", at=90.0) for number in range(3)}


def bought(caps: Caps, *objects: Any) -> int:
    """Machines that are bought for six pods of two pools, of which each fills one that costs 1."""
    pods = (
        waiting(f"web-{number}", requests={"cpu": "1500m"}, nodeSelector=selector)
        for number, selector in enumerate(3 * [{}, {"growth.dev/pool": "other"}])
    )
    planning = PlanningLedger(bought=LAST_HOUR)
    known = world(
        *pods,
        *objects,
        pool(serverTypes=SMALL),
        pool("other", serverTypes=SMALL),
        node_class(),
        caps=caps,
        ledger=Ledger(brakes=RELEASED, planning=planning),
    )
    steps = (step for sequence in planned(known).sequences for step in sequence.steps)
    return sum(isinstance(step, CreateNodeRequest) for step in steps)


@pytest.mark.parametrize(
    ("caps", "number"),
    [
        (Caps(), 5),
        (Caps(nodes=5), 4),
        (Caps(nodes=0), 0),
        (Caps(nodes_per_hour=5), 2),
        (Caps(nodes_per_hour=2), 0),
        (Caps(hourly_cost=Decimal("3.5")), 2),
        (Caps(nodes=5, nodes_per_hour=4, hourly_cost=Decimal(100)), 1),
    ],
    ids=str,
)
def test_all_pools_together_have_and_buy_no_more_than_the_caps(caps: Caps, number: int) -> None:
    """One machine is on its way for one of the pods; three were bought within the hour."""
    assert bought(caps, request(status={"phase": "Provisioning"})) == number


def test_who_is_left_out_is_told_by_which_cap() -> None:
    planner = Planner(waiting(requests={"cpu": "1500m"}), pool(), node_class())
    seen = planner._world
    planner._world = lambda: msgspec.structs.replace(seen(), caps=Caps(nodes=0))  # type: ignore[method-assign]

    assert planner.soon() == []

    (told,) = planner.memory.tries.values()
    assert "0 nodes in all pools together (--max-nodes)" in told.reason
