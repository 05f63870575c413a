"""Text of others: one form is read, at the cost of its length; the rest is a ValueError."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    CURRENCY_ANNOTATION,
    PRICE_ANNOTATION,
    SCALE_DOWN_AT_ANNOTATION,
)
from growth.foreign_text import (
    parse_count,
    parse_money,
    parse_seconds,
    parse_time,
    time_or_none,
)
from growth.instant import FAR_AHEAD, Instant
from growth.keeping.marks import bought_at, currency_on, price_on, scale_down_at
from growth.scheduling.metadata import Metadata
from growth.scheduling.node import Node, NodeStatus
from reconciler.providers.hetzner.rates import RateBucket, after_answer

if TYPE_CHECKING:
    from collections.abc import Callable

READERS = (parse_count, parse_money, parse_seconds, parse_time)
NOW = Instant(5.0, datetime(2026, 5, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "written",
    [
        "",
        " 1",
        "1\n",
        "-1",
        "+1",
        "1e3",
        "1e999999",
        "1e999990",
        "NaN",
        "Infinity",
        "-inf",
        "1_000",
        "\u0663",
        "\u00b2",
        "9" * 400,
        "9" * 5_000,
        "1" * 10_000_000,
        "0x10",
        "1E",
        "[" * 100_000,
        "\ud800",
        "\0",
    ],
)
def test_what_has_another_form_is_refused(read: Callable[[str], object], written: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        read(written)


@pytest.mark.parametrize(
    "written",
    [
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "9999-12-31T23:59:59Z",
        "9000-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "2016-12-31T23:59:60Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:01Z",
        "2026-01-01T00:00:00+99:00",
        "2026-01-01T00:00:00",
        "\u0662\u0660\u0662\u0666-01-01T00:00:00Z",
    ],
)
def test_a_time_that_could_not_be_added_to_is_none(written: str) -> None:
    assert time_or_none(written) is None


@given(st.text() | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+-]{8,20}Z?"))
def test_to_whatever_time_is_read_a_century_can_be_added(written: str) -> None:
    found = time_or_none(written)
    assert found is None or found + timedelta(days=36_525) > found > found - timedelta(days=36_525)


@pytest.mark.parametrize(
    ("written", "price"),
    [("0.0136", "0.0136"), ("3", "3"), ("1e999999", "0"), ("-1000", "0"), ("NaN", "0"), ("", "0")],
)
def test_a_price_on_a_node_is_money_or_nothing(written: str, price: str) -> None:
    node = Node(metadata=Metadata(name="a", annotations={PRICE_ANNOTATION: written}))
    assert price_on(node) == Decimal(price)


@pytest.mark.parametrize(
    ("written", "currency"), [("EUR", "EUR"), ("eur", ""), ("x" * 300, ""), ("\x1b[2J", "")]
)
def test_a_currency_on_a_node_is_a_code_or_nothing(written: str, currency: str) -> None:
    node = Node(metadata=Metadata(name="a", annotations={CURRENCY_ANNOTATION: written}))
    assert currency_on(node) == currency


def test_times_on_a_node_that_can_not_be_read_are_as_if_not_written() -> None:
    poison = "0001-01-01T00:00:00+14:00"
    node = Node(
        metadata=Metadata(
            annotations={BOUGHT_AT_ANNOTATION: poison, SCALE_DOWN_AT_ANNOTATION: poison},
            creation_timestamp="2026-05-01T00:00:00Z",
        )
    )
    assert scale_down_at(node) is None
    assert bought_at(node) == datetime(2026, 5, 1, tzinfo=UTC)


def test_an_amount_that_a_kubelet_reports_and_nobody_can_read_is_not_there() -> None:
    node = Node(status=NodeStatus(allocatable={"cpu": "2", "memory": "1E9E9", "pods": "9" * 9000}))
    assert node.allocatable.amounts == {"cpu": 2000}


@given(st.floats(min_value=0, allow_nan=False))
def test_whatever_span_others_write_its_end_can_be_told(seconds: float) -> None:
    assert NOW.wall <= NOW.ahead(seconds) <= FAR_AHEAD


@pytest.mark.parametrize("poison", ["NaN", "inf", "1e400", "-5", "", "9" * 5000])
def test_a_header_of_the_cloud_that_is_no_number_changes_nothing(poison: str) -> None:
    standing = RateBucket()
    headers = {"RateLimit-Limit": "3600", "RateLimit-Remaining": "5", "RateLimit-Reset": poison}
    assert after_answer(standing, headers, wall=0.0, under_way=0) == standing
