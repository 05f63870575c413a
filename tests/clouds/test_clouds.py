"""Machines are listed again and again, each class's by itself, at a pace that others can bear."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from reconciler.core.timing import Timing
from reconciler.figures.clouds import CloudMetrics
from reconciler.seeing.clouds import LISTING_LIMIT, Clouds
from tests.clouds.stub import KEY, OTHER, Stub, going_on, machine, now

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from reconciler.providers.port import ClassKey

pytestmark = pytest.mark.looptime


class Told:
    """Two classes, and what is known of them."""

    def __init__(self) -> None:
        self.stubs: dict[ClassKey, Stub] = {KEY: Stub()}
        self.is_busy = False
        self.changes = 0
        self.clouds = Clouds(
            node_classes=lambda: sorted(self.stubs),
            provider_of=self.stubs.get,
            is_busy=lambda: self.is_busy,
            now=now,
            changed=self._change,
            timing=Timing(),
        )

    def _change(self) -> None:
        self.changes += 1
        self.clouds.notice()

    @property
    def stub(self) -> Stub:
        return self.stubs[KEY]


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    told = Told()
    async with going_on(told.clouds.run()):
        yield told


async def test_while_nothing_moves_a_look_is_taken_every_ten_seconds(told: Told) -> None:
    await asyncio.sleep(31)

    assert told.stub.listed_at == pytest.approx([0.0, 10.1, 20.2, 30.3])
    assert told.changes == 4


async def test_an_answer_that_nobody_has_thought_of_blinds_one_cloud_and_ends_no_task(
    told: Told,
) -> None:
    told.stub.is_garbled = True
    told.stubs[OTHER] = Stub()
    told.clouds.notice()
    await asyncio.sleep(5)
    assert told.clouds.sights[KEY].problem == "its listing fails: KeyError"
    assert told.clouds.sights[OTHER].listing is not None

    told.stub.is_garbled = False
    await asyncio.sleep(15)
    assert told.clouds.sights[KEY].blind_since is None


async def test_while_a_machine_comes_or_goes_the_next_look_is_a_second_later(told: Told) -> None:
    await asyncio.sleep(5)
    told.is_busy = True
    told.clouds.notice()
    await asyncio.sleep(2.5)

    assert told.stub.listed_at == pytest.approx([0.0, 5.0, 6.1, 7.2])


async def test_a_listing_that_took_calls_of_a_limit_is_followed_later(told: Told) -> None:
    told.is_busy = True
    told.stub.calls = 3
    await asyncio.sleep(13)

    assert told.stub.listed_at == pytest.approx([0.0, 6.1, 12.2])


async def test_however_many_calls_it_took_no_look_is_later_than_usual(told: Told) -> None:
    told.stub.calls = 100
    await asyncio.sleep(11)

    assert told.stub.listed_at == pytest.approx([0.0, 10.1])


async def test_two_listings_that_show_what_there_was_are_both_kept(told: Told) -> None:
    await asyncio.sleep(1)
    told.stub.machines = {"default-1": machine()}
    await asyncio.sleep(10)

    sight = told.clouds.sights[KEY]
    assert sight.listing is not None
    assert sight.before is not None
    assert set(sight.listing.machines) == {"default-1"}
    assert set(sight.before.machines) == set()


@pytest.mark.parametrize("trouble", [{"fails": True}, {"is_complete": False}])
async def test_what_isn_t_complete_says_nothing_and_the_last_listing_stays(
    told: Told, trouble: dict[str, bool]
) -> None:
    await asyncio.sleep(1)
    for name, value in trouble.items():
        setattr(told.stub, name, value)
    await asyncio.sleep(20)

    sight = told.clouds.sights[KEY]
    assert sight.listing is not None
    assert sight.listing.at.monotonic == 0.0
    assert sight.blind_since == pytest.approx(10.2)
    assert sight.problem in {"the cloud is away", "half of it"}


async def test_a_cloud_that_hangs_keeps_no_other_one_waiting(told: Told) -> None:
    await asyncio.sleep(1)
    told.stub.takes = 10_000
    told.stubs[OTHER] = Stub()
    told.clouds.notice()
    await asyncio.sleep(25)

    assert len(told.stub.listed_at) == 2
    assert len(told.stubs[OTHER].listed_at) == 3


async def test_a_listing_that_never_comes_is_given_up_and_asked_for_again(told: Told) -> None:
    await asyncio.sleep(1)
    told.stub.takes = 10_000
    await asyncio.sleep(10 + LISTING_LIMIT)
    assert told.clouds.sights[KEY].problem == "no answer within 60 s"

    told.stub.takes = 0.1
    await asyncio.sleep(10)

    assert told.clouds.sights[KEY].blind_since is None


async def test_a_class_that_appears_is_looked_at_at_once_and_one_that_goes_is_forgotten(
    told: Told,
) -> None:
    await asyncio.sleep(3)
    told.stubs[OTHER] = Stub()
    told.clouds.notice()
    await asyncio.sleep(1)
    assert set(told.clouds.sights) == {KEY, OTHER}

    del told.stubs[OTHER]
    told.clouds.notice()
    await asyncio.sleep(1)

    assert set(told.clouds.sights) == {KEY}


async def test_how_well_a_cloud_is_seen_is_measured(told: Told) -> None:
    registry = CollectorRegistry()
    CloudMetrics(registry, sights=lambda: told.clouds.sights, markets=dict, now=now)
    await asyncio.sleep(4)
    told.stub.fails = True
    await asyncio.sleep(10)

    labels = {"kind": KEY.kind, "node_class": KEY.name}
    age = registry.get_sample_value("growth_cloud_listing_age_seconds", labels)
    blind = registry.get_sample_value("growth_cloud_blind_seconds", labels)
    assert age == pytest.approx(14)
    assert blind == pytest.approx(3.8)
