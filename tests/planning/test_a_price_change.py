"""A simulated cloud changes its prices, and the next plan counts with them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from reconciler.providers.kwok.catalogue import kwok_offerings
from tests.planning.driver import Planner
from tests.reconciler.build import node_class, pool, waiting

if TYPE_CHECKING:
    from growth.api.kwoknodeclass import KwokNodeClass

DEARER = {"kind": "PriceChange", "serverType": "small", "location": "here", "price": "2.5"}


def changed(*faults: dict[str, Any]) -> KwokNodeClass:
    return node_class(faults=list(faults))


@pytest.mark.parametrize(
    ("faults", "prices"),
    [
        ((), ["1", "2", "3"]),
        ((DEARER,), ["2.5", "2", "3"]),
        (({**DEARER, "location": None},), ["2.5", "2.5", "3"]),
        (({"kind": "PriceChange", "price": "0.1"},), ["0.1", "0.1", "0.1"]),
        ((DEARER, {**DEARER, "price": "0.5"}), ["0.5", "2", "3"]),
    ],
    ids=["none", "one offer", "one type", "all", "the last counts"],
)
def test_a_price_changes_for_what_the_fault_names(
    faults: tuple[dict[str, Any], ...], prices: list[str]
) -> None:
    assert [each.price for each in kwok_offerings(changed(*faults))] == [
        Decimal(it) for it in prices
    ]


def test_the_next_plan_counts_with_the_new_price() -> None:
    planner = Planner(waiting("web-0", requests={"cpu": "1500m"}), pool(), node_class())
    (before,) = planner.soon()
    planner.put(changed(DEARER), waiting("web-1", requests={"cpu": "1500m"}))

    (after,) = planner.soon()

    assert (before.spec.location, before.spec.price) == ("here", Decimal(1))
    assert (after.spec.location, after.spec.price) == ("there", Decimal(2))
