"""A pool says that its prices are in several currencies, as long as they are."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from reconciler.buying.offers import Shelf, shelf
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.pools import several_currencies
from reconciler.providers.port import ClassKey
from tests.reconciler.build import RELEASED, at, node_class, pool, said_by, world

EUR: Final = node_class(currency="EUR")
KEY: Final = ClassKey(EUR.kind, EUR.name)
IN_DOLLARS: Final = {"otherCosts": [{"currency": "USD", "hourlyCost": "3"}], "currency": "EUR"}
TOLD: Final = {"type": "SeveralCurrencies", "status": "True", "reason": "NotComparable"}


def said(
    *, also_sold_in: str = "EUR", status: dict[str, Any] | None = None
) -> tuple[str, str, str] | None:
    """What a pool says whose large machines are sold in another currency than its small ones."""
    made = pool()
    made = made.model_copy(update={"status": made.status.model_validate(status or {})})
    known = world(made, EUR)
    small, there, large = known.offerings[KEY]
    mixed = (small, there, msgspec.structs.replace(large, currency=also_sold_in))
    known = msgspec.structs.replace(known, offerings={KEY: mixed})
    planning = PlanningLedger(shelf=shelf(known, Shelf()))
    ledger = Ledger(brakes=RELEASED, planning=planning)
    return said_by(several_currencies, msgspec.structs.replace(known, ledger=ledger), at(100))


def test_a_pool_with_prices_in_one_currency_says_nothing() -> None:
    assert said() is None


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"also_sold_in": "USD"}, "EUR and USD"),
        ({"also_sold_in": ""}, "no currency and EUR"),
        ({"status": IN_DOLLARS}, "EUR and USD"),
    ],
    ids=["offers", "offers without one", "machines"],
)
def test_a_pool_with_prices_in_two_says_what_that_means(
    changes: dict[str, Any], names: str
) -> None:
    told = said(**changes)
    assert told is not None
    assert told[:2] == ("True", "NotComparable")
    assert f"in {names}." in told[2]
    assert "limits.hourlyCost applies to each currency separately" in told[2]


def test_it_takes_that_back_when_one_is_left() -> None:
    before = TOLD | {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    told = said(status={"conditions": [before], "currency": "EUR"})
    assert told is not None
    assert told[:2] == ("False", "OneCurrency")
