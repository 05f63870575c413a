"""A listing that lacks what must be there is asked for again before it is believed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.kube.cache.health import CacheHealth
from reconciler.brakes.trust import Trust, trusts
from reconciler.providers.port import Sight
from tests.reconciler.build import request
from tests.removal.build import CLOUD, attempted, listing, machine, node, removal, world

NAMES = [f"default-{number}" for number in range(6)]
NODES = tuple(node(name) for name in NAMES)


def shown(count: int, seconds: float = 90.0) -> dict[Any, Sight]:
    machines = (machine(name) for name in NAMES[:count])
    return {CLOUD: Sight(listing=listing(*machines, seconds=seconds))}


def trust(*listings: tuple[float, int], objects: tuple[Any, ...] = NODES) -> Trust:
    """What is thought after listings at some moments that show so many machines."""
    before: Any = {}
    for seconds, count in listings:
        before = trusts(world(*objects, clouds=shown(count, seconds)), before)
    found: Trust = before[CLOUD]
    return found


@pytest.mark.parametrize(("count", "believed"), [(0, False), (2, False), (3, True), (6, True)])
def test_a_listing_that_shows_less_than_half_is_doubted(
    count: int,
    believed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert (trust((90, count)).doubt == "") is believed


def test_the_doubt_says_what_is_missing() -> None:
    assert trust((90, 2)).doubt == "a listing shows only 2 of the 6 machines that must exist"


@pytest.mark.parametrize(("seconds", "believed"), [(91, False), (99.9, False), (100, True)])
def test_a_second_listing_a_stable_interval_later_is_believed(
    seconds: float,
    believed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert (trust((90, 0), (seconds, 0)).doubt == "") is believed


def test_a_good_listing_in_between_begins_the_interval_anew() -> None:
    assert trust((90, 0), (95, 6), (101, 0)).doubt
    assert not trust((90, 0), (95, 6)).doubt


def test_the_same_listing_is_no_second_opinion() -> None:
    assert trust((90, 0), (90, 0), (90, 0)).doubt


def test_machines_on_their_way_are_implied_and_those_we_had_deleted_are_not() -> None:
    coming = tuple(request(name, status={"phase": "Provisioning"}) for name in NAMES)
    assert trust((90, 0), objects=coming).doubt
    going = tuple(removal(name, status=attempted()) for name in NAMES)
    assert not trust((90, 0), objects=(*NODES, *going)).doubt


def test_a_cloud_that_is_not_seen_is_not_believed_and_is_when_it_is_seen_again() -> None:
    blind = msgspec.structs.replace(shown(6)[CLOUD], blind_since=91.0, problem="no answer")
    before = trusts(world(*NODES, clouds={CLOUD: blind}), {})
    assert before[CLOUD].doubt == "its machines can't be listed: no answer"
    assert not trusts(world(*NODES, clouds=shown(6, 92)), before)[CLOUD].doubt


def test_nothing_is_believed_before_our_own_side_is_whole() -> None:
    sources = {"nodes": CacheHealth()}
    assert trusts(world(sources=sources, clouds=shown(0)), {}) == {}


@given(st.lists(st.tuples(st.floats(0.1, 30), st.integers(0, 6)), min_size=1, max_size=12))
def test_what_lacks_half_is_only_believed_after_an_unbroken_interval(
    listings: list[tuple[float, int]],
) -> None:
    seconds, since = 0.0, None
    before: dict[Any, Trust] = {}
    for pause, count in listings:
        seconds += pause
        before = dict(trusts(world(*NODES, clouds=shown(count, seconds)), before))
        lacks = 2 * count < len(NAMES)
        since = (seconds if since is None else since) if lacks else None
        believed = since is None or seconds >= since + 10
        assert (before[CLOUD].doubt == "") is believed
