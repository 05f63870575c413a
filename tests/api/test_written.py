"""Durations, quantities, money, times and type names: read exactly and written back the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import cel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from growth.api.written import (
    DURATION_PATTERN,
    CountOrPercent,
    Duration,
    Money,
    Quantity,
    ServerTypeName,
    write_time,
)
from growth.foreign_text import parse_time

NANOSECONDS = st.integers(0, 10**18)
UNITS = st.sampled_from(["ns", "us", "ms", "s", "m", "h"])
WRITTEN = st.lists(st.tuples(st.integers(0, 99_999), UNITS), min_size=1, max_size=3).map(
    lambda parts: "".join(f"{number}{unit}" for number, unit in parts)
)


@pytest.mark.parametrize(
    ("written", "nanoseconds", "again"),
    [
        ("90s", 90 * 10**9, "1m30s"),
        ("1h30m", 5400 * 10**9, "1h30m"),
        ("1.5h", 5400 * 10**9, "1h30m"),
        ("0.1s", 10**8, "100ms"),
        ("1500us", 1_500_000, "1500us"),
        ("1m59.5s", 119_500_000_000, "1m59s500ms"),
        ("0s", 0, "0s"),
        ("1h0.000000001s", 3600 * 10**9 + 1, "1h1ns"),
    ],
)
def test_a_duration_is_read_exactly(written: str, nanoseconds: int, again: str) -> None:
    assert Duration.parse(written) == Duration(nanoseconds)
    assert str(Duration.parse(written)) == again


@pytest.mark.parametrize("written", ["", "5", "-5m", "5 m", "5d", "m", "1h ", "PT5M", "1e3s", "٣s"])
def test_anything_else_is_no_duration(written: str) -> None:
    with pytest.raises(ValueError, match="must be a duration such as 90s, 10m or 1h30m"):
        Duration.parse(written)


@given(NANOSECONDS)
def test_a_duration_survives_writing_and_reading(nanoseconds: int) -> None:
    assert Duration.parse(str(Duration(nanoseconds))) == Duration(nanoseconds)


@given(WRITTEN, WRITTEN)
def test_durations_order_as_cel_orders_them(left: str, right: str) -> None:
    ordered = cel.evaluate(f"duration('{left}') <= duration('{right}')")

    assert (Duration.parse(left) <= Duration.parse(right)) == ordered


@given(WRITTEN)
def test_cel_takes_what_the_pattern_takes(written: str) -> None:
    assert cel.evaluate(f"'{written}'.matches('{DURATION_PATTERN.replace(chr(92), chr(92) * 2)}')")


def test_type_names_compare_without_regard_to_case_and_keep_their_spelling() -> None:
    upper, lower = ServerTypeName.parse("CAX11"), ServerTypeName.parse("cax11")

    assert upper == lower
    assert len({upper, lower}) == 1
    assert str(upper) == "CAX11"
    assert sorted([ServerTypeName.parse("cx33"), upper]) == [upper, ServerTypeName.parse("cx33")]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-01-01T21:07:52Z", datetime(2026, 1, 1, 21, 7, 52, tzinfo=UTC)),
        ("2026-01-01T21:07:52.25Z", datetime(2026, 1, 1, 21, 7, 52, 250_000, tzinfo=UTC)),
        ("2026-01-01T23:07:52+02:00", datetime(2026, 1, 1, 21, 7, 52, tzinfo=UTC)),
        ("2026-01-01 21:07:52:00Z", datetime(2026, 1, 1, 21, 7, 52, tzinfo=UTC)),
        ("2026-01-01 21:07:52Z", datetime(2026, 1, 1, 21, 7, 52, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_kubernetes_and_as_the_first_examples_write_them(
    written: str, moment: datetime
) -> None:
    assert parse_time(written) == moment


@pytest.mark.parametrize("written", ["2026-01-01", "21:07:52Z", "2026-13-01T00:00:00Z", "now"])
def test_anything_else_is_no_time(written: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        parse_time(written)


@given(st.integers(0, 10**15), st.integers(-12, 12))
def test_a_time_survives_writing_and_reading(microseconds: int, hours: int) -> None:
    start = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=hours)))
    moment = start + timedelta(microseconds=microseconds)

    assert parse_time(write_time(moment)) == moment


@pytest.mark.parametrize("written", ["0", "0.0136", "123456789.000000000001"])
def test_money_is_decimal_and_written_as_it_was(written: str) -> None:
    money = TypeAdapter(Money)

    assert money.validate_python(written) == Decimal(written)
    assert money.dump_python(Decimal(written), mode="json") == written


@given(st.decimals(0, 10**8, places=9))
def test_money_is_never_written_with_an_exponent(amount: Decimal) -> None:
    money = TypeAdapter(Money)

    assert money.validate_python(money.dump_python(amount, mode="json")) == amount


@pytest.mark.parametrize(("written", "text"), [(4, "4"), ("500m", "500m"), ("8Gi", "8Gi")])
def test_quantities_stay_text(written: int | str, text: str) -> None:
    assert TypeAdapter(Quantity).validate_python(written) == text


@pytest.mark.parametrize("written", ["", "8GB", "-1", -1, "1e3", True, 1.5, "1 Gi"])
def test_anything_else_is_no_quantity(written: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Quantity).validate_python(written)


@pytest.mark.parametrize("written", [0, 3, "10%", "100%"])
def test_a_share_is_written_as_it_was(written: int | str) -> None:
    portion = TypeAdapter(CountOrPercent)

    assert portion.dump_python(portion.validate_python(written), mode="json") == written
