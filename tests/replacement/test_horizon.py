"""How long a saving counts, after what has been given back and bought again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.decision import NEVER
from reconciler.core.timing import Timing
from reconciler.facts.requested import Bought
from reconciler.replacement.horizon import CALM, LONG_AGO, Regret, horizon, regret
from reconciler.replacement.worth import HORIZON
from tests.reconciler.build import at, world
from tests.removal.build import removal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.core.world import World

QUIET = Timing().quiet
MOMENTS = st.floats(min_value=0, max_value=10_000)


class Day:
    """One moment after the other, and what is remembered of them."""

    def __init__(self) -> None:
        self.known = Regret()

    def sees(
        self, moment: float, *, wanted: int, goes: str = "", bought: Iterable[float] = ()
    ) -> None:
        self.known = regret(self.known, seen(wanted=wanted, goes=goes, bought=bought), at(moment))

    def counts(self, moment: float) -> float:
        return horizon(self.known, seen(wanted=0), at(moment))[0]


def seen(*, wanted: int, goes: str = "", bought: Iterable[float] = ()) -> World:
    made = world(removals={"old": removal("old", reason=goes)} if goes else {}, wanted=wanted)
    planning = replace(
        made.ledger.planning,
        bought={str(moment): Bought(pool="default", at=moment) for moment in bought},
    )
    ledger = replace(made.ledger, planning=planning)
    return msgspec.structs.replace(made, ledger=ledger)


def test_at_first_a_saving_counts_for_an_hour() -> None:
    day = Day()
    day.sees(10, wanted=50, bought=[10])
    assert day.counts(10) == HORIZON


@pytest.mark.parametrize("reason", ["Idle", "Consolidation"])
def test_what_is_bought_again_shortens_it_and_calm_brings_it_back(reason: str) -> None:
    day = Day()
    day.sees(10, wanted=50, goes=reason)
    day.sees(20, wanted=60, bought=[20])
    calm = CALM * QUIET
    asked = [20, 19 + calm / 4, 20 + calm / 4, 20 + calm / 2, 20 + calm]
    assert [day.counts(moment) for moment in asked] == [
        HORIZON / 64,
        HORIZON / 64,
        HORIZON / 16,
        HORIZON / 4,
        HORIZON,
    ]


@pytest.mark.parametrize("reason", ["NeverJoined", "Unhealthy", "PoolDeleted", "Drift"])
def test_what_went_for_another_reason_was_no_saving(reason: str) -> None:
    day = Day()
    day.sees(10, wanted=50, goes=reason)
    day.sees(20, wanted=60, bought=[20])
    assert day.counts(20) == HORIZON


def test_what_is_bought_for_pods_that_we_moved_says_nothing_of_the_load() -> None:
    day = Day()
    day.sees(10, wanted=100)
    day.sees(20, wanted=40, goes="Idle")
    day.sees(30, wanted=40, goes="Consolidation")
    day.sees(40, wanted=40, bought=[40])
    assert day.counts(40) == HORIZON


def test_a_rise_to_less_than_before_is_one_as_well() -> None:
    day = Day()
    day.sees(20, wanted=100, goes="Idle")
    day.sees(30, wanted=40)
    day.sees(40, wanted=41, bought=[40])
    assert day.counts(40) == HORIZON / 64


def test_each_purchase_is_regretted_once() -> None:
    day = Day()
    day.sees(10, wanted=50, goes="Idle")
    day.sees(20, wanted=60, bought=[20])
    day.sees(400, wanted=70, bought=[20])
    assert day.known.bought_again == 20


@given(bought_again=MOMENTS, since=MOMENTS)
def test_it_grows_when_it_says_it_will_and_at_no_other_time(
    bought_again: float, since: float
) -> None:
    known, now = Regret(bought_again=bought_again), bought_again + since
    lasts, more = horizon(known, seen(wanted=0), at(now))
    assert more > now
    if more == NEVER:
        assert lasts == HORIZON
        return
    assert horizon(known, seen(wanted=0), at((now + more) / 2))[0] in {lasts, lasts * 4}
    assert horizon(known, seen(wanted=0), at(more))[0] == lasts * 4


def test_nothing_is_remembered_of_a_cluster_that_never_gave_anything_back() -> None:
    day = Day()
    for moment in range(0, 100, 10):
        day.sees(moment, wanted=moment, bought=range(0, moment, 10))
    assert day.known.bought_again == LONG_AGO
