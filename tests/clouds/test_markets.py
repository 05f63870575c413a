"""What can be bought is asked when it may have changed, and what is known outlives an outage."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from reconciler.figures.clouds import CloudMetrics
from reconciler.providers.port import FailureClass
from reconciler.seeing.catalogues import ASKING_LIMIT, FIRST_ANSWERS_WITHIN, Markets
from tests.clouds.stub import KEY, OTHER, Stub, going_on, now

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from reconciler.providers.port import ClassKey
    from reconciler.seeing.catalogues import NodeClassMarket

pytestmark = pytest.mark.looptime

TEMPLATE, FATAL = FailureClass.TEMPLATE, FailureClass.FATAL


class Told:
    """Node classes, and what was learnt of them."""

    def __init__(self) -> None:
        self.stubs: dict[ClassKey, Stub] = {KEY: Stub()}
        self.generation = 1
        self.learnt: list[tuple[ClassKey, NodeClassMarket]] = []
        self.markets = Markets(
            node_classes=lambda: sorted(self.stubs),
            provider_of=self.stubs.get,
            generation_of=lambda _: self.generation,
            learnt=self._learn,
        )

    def _learn(self, key: ClassKey, market: NodeClassMarket) -> None:
        self.learnt.append((key, market))
        self.markets.notice()

    @property
    def stub(self) -> Stub:
        return self.stubs[KEY]

    @property
    def market(self) -> NodeClassMarket:
        return self.markets.known[KEY]

    @property
    def price(self) -> str:
        assert self.market.offerings is not None
        return str(self.market.offerings[0].price)


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    told = Told()
    async with going_on(told.markets.run()):
        yield told


async def test_a_class_is_asked_about_when_it_appears_and_every_ten_minutes(told: Told) -> None:
    await asyncio.sleep(1)
    assert told.price == "0.01"

    told.stub.price = "0.02"
    await asyncio.sleep(605)

    assert told.price == "0.02"
    assert told.stub.asked_at == pytest.approx([0.0, 600.2])


async def test_what_stays_is_not_told_twice(told: Told) -> None:
    await asyncio.sleep(1)
    before = told.market.offerings
    await asyncio.sleep(601)

    assert told.market.offerings is before


async def test_the_last_good_catalogue_outlives_an_outage(told: Told) -> None:
    await asyncio.sleep(1)
    told.stub.fails = True
    await asyncio.sleep(3600)
    assert told.price == "0.01"
    assert told.market.checked is not None
    assert told.market.checked.failure is None

    told.stub.fails, told.stub.price = False, "0.03"
    await asyncio.sleep(31)

    assert told.price == "0.03"


async def test_an_answer_that_nobody_has_thought_of_ends_no_task(told: Told) -> None:
    await asyncio.sleep(1)
    told.stub.is_garbled = True
    await asyncio.sleep(3600)
    assert told.price == "0.01"

    told.stub.is_garbled, told.stub.price = False, "0.03"
    await asyncio.sleep(31)
    assert told.price == "0.03"


async def test_a_new_spec_is_asked_about_at_once(told: Told) -> None:
    await asyncio.sleep(100)
    told.generation = told.stub.generation = 2
    told.stub.price = "0.02"
    told.markets.notice()
    await asyncio.sleep(0.5)

    assert told.price == "0.02"


async def test_a_spec_that_changes_while_it_is_asked_about_is_asked_about_again(
    told: Told,
) -> None:
    told.generation = 2
    await asyncio.sleep(2)
    told.stub.generation = 2
    await asyncio.sleep(4)

    assert told.market.checked is not None
    assert told.market.checked.generation == 2
    assert len(told.stub.asked_at) == 2


@pytest.mark.parametrize(("failure", "seconds"), [(TEMPLATE, 60), (FATAL, 15)])
async def test_a_class_that_is_blocked_keeps_its_catalogue_and_is_asked_about_more_often(
    told: Told, failure: FailureClass, seconds: float
) -> None:
    await asyncio.sleep(100)
    told.stub.failure = failure
    told.markets.doubt()
    await asyncio.sleep(1)
    assert told.market.checked is not None
    assert told.market.checked.failure is failure
    assert told.price == "0.01"

    told.stub.failure = None
    await asyncio.sleep(seconds - 2)
    assert told.market.checked.failure is failure
    await asyncio.sleep(2)

    assert told.market.checked.failure is None


async def test_a_class_that_is_refused_again_and_again_is_asked_about_every_five_seconds(
    told: Told,
) -> None:
    await asyncio.sleep(100)
    for _ in range(100):
        told.markets.doubt()
        await asyncio.sleep(0.1)

    assert len(told.stub.asked_at) <= 4


async def test_an_answer_that_never_comes_keeps_nobody_waiting(told: Told) -> None:
    told.stub.takes = 10_000
    told.stubs[OTHER] = Stub()
    told.markets.notice()
    await asyncio.sleep(1)
    assert OTHER in told.markets.known

    told.stub.takes = 0.1
    await asyncio.sleep(ASKING_LIMIT + 30)

    assert told.price == "0.01"


async def test_a_new_leader_begins_with_what_can_be_bought(told: Told) -> None:
    await told.markets.first_answers()

    assert told.price == "0.01"
    assert now().monotonic < 1


async def test_a_new_leader_does_not_wait_long_for_a_cloud_that_says_nothing(told: Told) -> None:
    told.stub.takes = 10_000
    await told.markets.first_answers()

    assert now().monotonic == pytest.approx(FIRST_ANSWERS_WITHIN)


async def test_a_class_that_goes_is_forgotten(told: Told) -> None:
    await asyncio.sleep(1)
    del told.stubs[KEY]
    told.markets.notice()
    await asyncio.sleep(1)

    assert told.markets.known == {}


async def test_a_blocked_class_is_measured(told: Told) -> None:
    registry = CollectorRegistry()
    CloudMetrics(registry, sights=dict, markets=lambda: told.markets.known, now=now)
    told.stub.failure = FATAL
    await asyncio.sleep(1)

    labels = {"kind": KEY.kind, "node_class": KEY.name}
    assert registry.get_sample_value("growth_node_class_blocked", labels) == 1
