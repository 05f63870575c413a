"""What can be bought, at what price, and what of it is left for pods."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from growth.api.hetznernodeclass import Kubelet
from growth.errors import RetryLater
from reconciler.providers.hetzner.catalogue import allocatable
from reconciler.providers.hetzner.last_good import FAILED_FOR
from reconciler.providers.hetzner.wire import Pricing, ServerType
from tests.hetzner.build import K3S
from tests.hetzner.fake.faults import Fault

if TYPE_CHECKING:
    from reconciler.providers.port import Offering
    from tests.hetzner.story import Story

CX23 = ServerType(
    name="cx23",
    cores=2,
    memory=Decimal(4),
    disk=40,
    architecture="x86",
    prices=(),
    locations=(),
)
MI = 2**20


def named(offerings: tuple[Offering, ...]) -> list[str]:
    return [f"{each.server_type} {each.location}" for each in offerings]


def one(offerings: tuple[Offering, ...], name: str, location: str = "nbg1") -> Offering:
    return next(
        each for each in offerings if (str(each.server_type), each.location) == (name, location)
    )


async def test_prices_are_in_the_currency_of_the_project(story: Story) -> None:
    assert {each.currency for each in await story.provider.offerings()} == {"EUR"}


@pytest.mark.parametrize("told", ["", "eur", "euros", "EURO", "€"])
def test_what_is_no_currency_is_none(told: str) -> None:
    assert Pricing(currency=told).currency_code == ""


async def test_a_type_is_offered_in_each_of_its_places_for_the_images_there_are(
    story: Story,
) -> None:
    offered = await story.provider.offerings()

    names = {name.split()[0] for name in named(offered)}
    assert names == {"cx23", "cx33", "cpx32", "ccx13"}
    assert {each.location for each in offered if str(each.server_type) == "cpx32"} == {
        "nbg1",
        "fsn1",
        "hel1",
        "ash",
    }
    story.uses(images={"arm": "debian-13"})
    assert named(await story.provider.offerings()) == ["cax11 fsn1", "cax11 nbg1"]


async def test_a_price_has_the_public_address_in_it_and_ends_at_the_month_s(story: Story) -> None:
    with_address = one(await story.provider.offerings(), "cx33")
    story.uses(publicIPv4=False)
    without = one(await story.provider.offerings(), "cx33")

    assert (with_address.price, with_address.monthly_cap) == (Decimal("0.0144"), Decimal("8.99"))
    assert (without.price, without.monthly_cap) == (Decimal("0.0136"), Decimal("8.49"))


async def test_a_node_is_promised_the_labels_that_the_cluster_will_give_it(story: Story) -> None:
    labels = one(await story.provider.offerings(), "cpx32", "ash").labels

    assert labels["kubernetes.io/arch"] == "amd64"
    assert labels["topology.kubernetes.io/region"] == "ash"
    assert labels["topology.kubernetes.io/zone"] == "ash-dc1"
    assert labels["csi.hetzner.cloud/location"] == "ash"
    assert labels["node.kubernetes.io/instance-type"] == "cpx32"


async def test_what_is_called_unavailable_is_offered_last(story: Story) -> None:
    story.project.types["ccx13"].unavailable = frozenset({"nbg1"})

    offered = await story.provider.offerings()

    assert named(offered)[0] == "ccx13 ash"
    assert named(offered)[-1] == "ccx13 nbg1"
    assert [one(offered, "ccx13", place).doubts for place in ("ash", "nbg1")] == [0, 1]


@pytest.mark.parametrize(
    ("end", "is_offered"), [("2026-03-01T00:00:00Z", True), ("2025-12-01T00:00:00Z", False)]
)
async def test_what_is_retired_is_not_offered_from_its_day_on(
    story: Story,
    end: str,
    is_offered: bool,  # noqa: FBT001 - a column of the table
) -> None:
    story.project.types["cx23"].retired = end

    offered = await story.provider.offerings()

    assert ("cx23 nbg1" in named(offered)) is is_offered
    assert not is_offered or (named(offered)[-1].startswith("cx23") and offered[-1].doubts == 1)


async def test_only_places_in_the_zone_of_the_network_are_offered(story: Story) -> None:
    story.uses(networks=["cluster"])

    offered = await story.provider.offerings()

    assert {each.location for each in offered} == {"nbg1", "fsn1", "hel1"}


async def test_a_network_is_a_room_that_all_offers_share(story: Story) -> None:
    story.project.networks[0].others = 93
    story.uses(networks=["cluster"])

    (room,) = {each.rooms for each in await story.provider.offerings()}

    assert [(each.name, each.most, len(each.taken)) for each in room] == [
        ("network cluster (41)", 100, 93)
    ]


async def test_what_costs_nothing_is_a_mistake_and_not_bought(story: Story) -> None:
    story.project.types["cx23"].hourly = "0.0000"

    assert not any(name.startswith("cx23") for name in named(await story.provider.offerings()))


async def test_the_last_good_catalogue_outlives_an_outage(story: Story) -> None:
    before = await story.provider.offerings()
    story.project.types["cx23"].hourly = "0.0099"
    story.project.pass_time(700)
    story.project.faults.add(Fault(call="GET /server_types", code="bad_gateway"))

    assert await story.provider.offerings() == before
    story.project.pass_time(FAILED_FOR)
    after = await story.provider.offerings()
    assert one(after, "cx23").price == Decimal("0.0107")


async def test_without_any_catalogue_nothing_is_said_rather_than_nothing_offered(
    story: Story,
) -> None:
    story.project.faults.add(Fault(call="GET /*", code="bad_gateway", times=100))

    with pytest.raises(RetryLater):
        await story.provider.offerings()


async def test_answers_of_another_form_are_told_and_asked_again(story: Story) -> None:
    story.project.types["cx23"].hourly = "cheap"

    with pytest.raises(RetryLater, match="doesn't have the documented form"):
        await story.provider.offerings()


async def test_offerings_cost_no_calls_while_they_are_fresh(story: Story) -> None:
    await story.provider.offerings()
    story.project.calls.clear()

    for _ in range(10):
        await story.provider.offerings()

    assert not story.project.calls


def test_a_node_is_expected_smaller_than_the_catalogue_says() -> None:
    left = allocatable(CX23, Kubelet())

    assert left["memory"] // MI == 3709
    assert left["cpu"] == 2000
    assert left["pods"] == 110
    assert left["ephemeral-storage"] == int(40 * 10**9 * 0.98 * 0.9)


def test_what_the_kubelet_keeps_is_not_for_pods() -> None:
    kubelet = Kubelet.model_validate(
        {
            "reserved": {"cpu": "300m", "memory": "600Mi"},
            "maxPods": 50,
            "evictionHard": {"memory.available": "5%", "nodefs.available": "1G"},
        }
    )

    left = allocatable(CX23, kubelet)

    memory = int(4 * 2**30 * Decimal("0.93"))
    assert left["memory"] == memory - int(memory * Decimal("0.05")) - 600 * MI
    assert left["cpu"] == 1700
    assert left["pods"] == 50
    assert left["ephemeral-storage"] == int(40 * 10**9 * Decimal("0.98")) - 10**9


async def test_the_class_s_kubelet_counts_for_its_offerings(story: Story) -> None:
    story.uses(bootstrap={**K3S, "kubelet": {"reserved": {"cpu": "500m"}}})

    assert one(await story.provider.offerings(), "cx23").allocatable["cpu"] == 1500
