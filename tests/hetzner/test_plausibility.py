"""Prices that can't be true are not believed: the last good ones hold, and it is said."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reconciler.providers.hetzner.catalogue import Catalogue
from reconciler.providers.hetzner.plausibility import weighed
from reconciler.providers.hetzner.wire import Net, Price, Pricing, ServerType, TypeLocation
from tests.hetzner.fake.faults import Fault

if TYPE_CHECKING:
    from tests.hetzner.story import Story


def catalogue(*prices: Price, currency: str = "EUR") -> Catalogue:
    """One type, sold here."""
    sold = ServerType(
        name="cx23",
        cores=2,
        memory=Decimal(4),
        disk=40,
        architecture="x86",
        prices=prices,
        locations=(TypeLocation("here"),),
    )
    return Catalogue(types=(sold,), locations=(), pricing=Pricing(currency=currency))


def price(hourly: str, monthly: str | None = None, *, place: str = "here") -> Price:
    cap = Net(Decimal(monthly)) if monthly is not None else None
    return Price(location=place, price_hourly=Net(Decimal(hourly)), price_monthly=cap)


USUAL = catalogue(price("0.0088", "5.49"))


def held(read: Catalogue, *, before: Catalogue | None = USUAL) -> tuple[str, str]:
    """The price that holds, and what is doubted."""
    found = weighed(read, before=before)
    (sold,) = found.catalogue.types
    doubts = " / ".join(found.doubts)
    return next((str(each.price_hourly.net) for each in sold.prices), "none"), doubts


@pytest.mark.parametrize(
    ("told", "believed", "doubt"),
    [
        (price("0.0088", "5.49"), "0.0088", ""),
        (price("0.0120", "7.49"), "0.0120", ""),
        (price("0.0352", "21.96"), "0.0352", ""),
        (price("0.0030", "1.87"), "0.0030", ""),
        (price("0.0100"), "0.0100", ""),
        (price("0", "5.49"), "0.0088", "cx23 in here: it costs nothing"),
        (price("-0.0088", "5.49"), "0.0088", "cx23 in here: it costs nothing"),
        (price("0.88", "549"), "0.0088", "cx23 in here: 0.88 per hour instead of 0.0088"),
        (price("0.000088", "0.0549"), "0.0088", "0.000088 per hour instead of 0.0088"),
        (price("0.0300", "5.49"), "0.0088", "0.0300 per hour, but 5.49 per month"),
        (price("0.0088", "5.49", place="there"), "0.0088", "it has no price"),
    ],
)
def test_a_price_far_from_the_last_one_or_from_its_cap_does_not_hold(
    told: Price, believed: str, doubt: str
) -> None:
    found, doubts = held(catalogue(told))

    assert found == believed
    assert doubt in doubts
    assert bool(doubt) == bool(doubts)


def test_what_never_had_a_good_price_is_not_sold() -> None:
    assert held(catalogue(price("0.88", "5.49")), before=None)[0] == "none"
    assert held(catalogue(price("0.88", "549")), before=None) == ("0.88", "")


def test_prices_in_another_currency_are_others_and_the_last_ones_hold() -> None:
    found, doubts = held(catalogue(price("0.0099", "6.18"), currency="USD"))

    assert found == "0.0088"
    assert doubts == "prices are in USD instead of EUR"


def test_many_doubts_are_told_shortly() -> None:
    types = [
        msgspec.structs.replace(USUAL.types[0], name=f"cx{number}", prices=())
        for number in range(9)
    ]
    found = weighed(msgspec.structs.replace(USUAL, types=tuple(types)), before=None)

    assert len(found.doubts) == 6
    assert found.doubts[-1] == "and 4 more"


async def change(story: Story, **types: Any) -> None:
    """Hetzner says something else the next time that it is asked."""
    await story.provider.check()
    for name, value in types.items():
        setattr(story.project.types["cx23"], name, value)
    story.project.pass_time(601)


async def cheapest(story: Story) -> str:
    sold = [each for each in await story.provider.offerings() if str(each.server_type) == "cx23"]
    return str(min(each.price for each in sold))


@pytest.mark.parametrize("hourly", ["0.0000", "0.8800"])
async def test_a_wrong_price_at_hetzner_changes_nothing_but_what_the_class_says(
    story: Story, hourly: str
) -> None:
    before = await cheapest(story)
    await change(story, hourly=hourly)

    checked = await story.provider.check()

    assert checked.failure is None
    assert checked.doubts[0].startswith("cx23 in nbg1: ")
    assert await cheapest(story) == before


async def test_a_price_that_is_right_again_is_believed_and_nothing_is_doubted(
    story: Story,
) -> None:
    await change(story, hourly="0.8800")
    await story.provider.check()
    await change(story, hourly="0.0090")

    checked = await story.provider.check()

    assert checked.doubts == ()
    assert await cheapest(story) == "0.0098"


async def test_a_reading_that_fails_leaves_the_doubts_as_they_were(story: Story) -> None:
    await change(story, hourly="0.8800")
    doubts = (await story.provider.check()).doubts
    story.project.pass_time(601)
    story.project.faults.add(Fault(call="GET /server_types", code="bad_gateway"))

    assert (await story.provider.check()).doubts == doubts
