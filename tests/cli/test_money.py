"""Money: one form in every command, and the currency where the cloud has said it."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.cli.cluster.survey import survey
from growth.cli.cost import command as cost
from growth.cli.cost.spending import spending
from growth.cli.explain.node import explained_node
from growth.cli.explain.pool import explained_pool
from growth.cli.explain.story import explanation_lines
from growth.cli.status import command as status
from growth.cli.status.overview import overview
from growth.cli.status.watched import WatchedCluster, watched_in
from growth.cli.terminal.money import currency_of, hourly, monthly
from growth.cli.top.bars import fleet_bars
from growth.cli.top.bars import fleet_lines as shown_by_top
from growth.cli.watch import command as watch
from growth.cli.watch.happenings import happenings
from tests.api.cases import HETZNER
from tests.cli.seen import NOW, node, pod, pool, request

MONEY = re.compile(r"\b\d+\.\d+\b")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (hourly("0.03"), "0.0300"),
        (hourly("0.0300"), "0.0300"),
        (hourly(Decimal("0.20000000")), "0.2000"),
        (hourly(0.2), "0.2000"),
        (hourly(0), "0.0000"),
        (hourly("12.5", "EUR"), "12.5000 EUR"),
        (monthly("26.977", "EUR"), "26.98 EUR"),
        (monthly(0.5), "0.50"),
    ],
)
def test_an_hour_has_four_digits_and_a_month_two(written: str, shown: str) -> None:
    assert written == shown


def billed_in(*currencies: str) -> list[HetznerNodeClass]:
    return [
        HetznerNodeClass.model_validate(HETZNER | {"status": {"currency": each}})
        for each in currencies
    ]


@pytest.mark.parametrize(
    ("currencies", "known"),
    [((), ""), (("",), ""), (("EUR", "", "EUR"), "EUR"), (("EUR", "USD"), "")],
)
def test_the_currency_is_told_where_all_classes_have_the_same(
    currencies: tuple[str, ...], known: str
) -> None:
    assert currency_of(billed_in(*currencies)) == known


def test_every_command_writes_it_alike_and_names_the_currency_in_its_sum() -> None:
    status_of_pool = {"hourlyCost": "0.03", "nodes": 1, "ready": 1, "wanted": 1}
    paid = pool(status=status_of_pool, limits={"hourlyCost": "0.5"})
    here = node(price="0.03")
    resources = [paid, request("default-2", "Pending"), *billed_in("EUR")]
    there = survey(resources, [here, pod("web-0")], now=NOW)
    seen = watched_in(there)
    sums = [
        *status.overview_lines(overview(seen, NOW)),
        *shown_by_top(fleet_bars(there), NOW),
        *cost.spending_lines(spending(there)),
    ]
    others = [
        *explanation_lines(explained_node(here, there), NOW, there.names),
        *explanation_lines(explained_pool(paid, there), NOW, there.names),
        *(watch.happening_line(each) for each in happenings(WatchedCluster(), seen, NOW)),
    ]

    assert "Everything costs 0.0300 EUR per hour." in "\n".join(sums)
    assert "· 0.0300 EUR per hour ·" in "\n".join(sums)
    assert "0.0300 EUR per hour (21.90 EUR per month)" in "\n".join(sums)
    written = {found for line in (*sums, *others) for found in MONEY.findall(line)}
    assert {each for each in written if not re.fullmatch(r"\d+\.(\d{4}|\d\d)", each)} == set()
    assert "0.0300 of 0.5000 per hour" in "\n".join(others)


def test_two_currencies_are_told_beside_each_other_and_never_added() -> None:
    status_of_pool = {
        "hourlyCost": "0.03",
        "currency": "EUR",
        "otherCosts": [{"currency": "USD", "hourlyCost": "0.04"}],
    }
    paid = pool(status=status_of_pool)
    euros = node("default-1", price="0.03")
    dollars = node("default-2", price="0.04", annotations={"growth.dev/currency": "USD"})
    there = survey([paid], [euros, dollars, pod("web-0", on="default-1")], now=NOW)
    found = overview(watched_in(there), NOW)
    told = "\n".join(
        [
            *status.overview_lines(found),
            *shown_by_top(fleet_bars(there), NOW),
            *cost.spending_lines(spending(there)),
            *explanation_lines(explained_pool(paid, there), NOW, there.names),
        ]
    )
    assert "Everything costs 0.0300 EUR and 0.0400 USD per hour." in told
    assert "· 0.0300 EUR and 0.0400 USD per hour ·" in told
    assert "0.0300 EUR per hour (21.90 EUR per month)" in told
    assert "; 0.0400 USD per hour (29.20 USD per month), 0.0400 of it (100 %) unused" in told
    assert "0.0300 EUR and 0.0400 USD per hour." in told
    assert "0.07" not in told
    assert (found.hourly_cost, found.currency) == (None, "")
    assert {each.part for each in spending(there).pools} == {1.0}
