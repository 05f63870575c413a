"""A machine that replacement buys is there for demand too: limits count it, and it has room."""

from __future__ import annotations

from itertools import islice
from typing import Any

from reconciler.facts.requested import Bought
from reconciler.ledger import Ledger
from reconciler.planning.reading import request_ids
from reconciler.planning.tries import PodTries
from reconciler.replacement.ledger import ReplacementLedger
from tests.planning.driver import Planner
from tests.reconciler.build import node_class, pool, request, waiting, world

BOUGHT_AT = 90.0
HOUR = 3600.0


def beside(memory: ReplacementLedger, **limits: Any) -> Planner:
    """Planning for one pod, next to a replacement that remembers this."""
    planner = Planner(waiting(requests={"cpu": "1"}), pool(limits=limits), node_class())
    planner.replacement = memory
    return planner


def after_a_swap() -> Planner:
    """The pod is in back-off: replacement has bought the one machine that the hour allows."""
    bought = {"default-new": Bought(pool="default", at=BOUGHT_AT)}
    planner = beside(ReplacementLedger(bought=bought), nodesPerHour=1)
    assert planner.until(BOUGHT_AT + HOUR - 1) == []
    (one,) = planner.memory.tries.values()
    assert one.standing(planner.now) is PodTries.BACK_OFF
    return planner


def test_a_pod_in_back_off_is_planned_again_when_the_hour_of_a_swap_ends() -> None:
    assert len(after_a_swap().until(BOUGHT_AT + HOUR + 1)) == 1


def test_the_end_of_that_hour_wakes_planning() -> None:
    assert after_a_swap().wakes_at == BOUGHT_AT + HOUR


def test_a_place_on_the_machine_of_a_swap_is_kept_before_the_cache_shows_it() -> None:
    new = request("default-new")
    planner = beside(ReplacementLedger(unconfirmed={new.name: new}))

    assert planner.until(160) == []

    assert {place.machine for place in planner.memory.nominated.places.values()} == {new.name}
    assert len(planner.problems) == 1
    assert planner.memory.tries == {}


def test_two_rooms_that_buy_in_one_pass_never_draw_the_same_id() -> None:
    one, other = islice(request_ids(world()), 2)
    bought = request(f"default-{one}")
    memory = ReplacementLedger(unconfirmed={bought.name: bought})
    seen = world(ledger=Ledger(replacement=memory))
    assert next(request_ids(seen)) == other
