from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from growth.scheduling.quantity import milli, units
from tests.scheduling.build import patient

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


@st.composite
def quantities(draw: st.DrawFn) -> str:
    sign = draw(st.sampled_from(["", "-", "+"]))
    whole = draw(st.integers(min_value=0, max_value=10**12))
    decimals = draw(st.sampled_from(["", ".", ".0", ".5", ".25", ".125", ".001", ".0000000001"]))
    return f"{sign}{whole}{decimals}{draw(st.sampled_from(SUFFIXES))}"


def client_reads(text: str, *, per_unit: int = 1) -> int:
    # The client's own 28 digits are too few for the largest of our examples.
    with localcontext(prec=100):
        value: Decimal = parse_quantity(text)  # type: ignore[no-untyped-call]  # it has no types
        return int((value * per_unit).to_integral_value(ROUND_CEILING))


@patient
@given(quantities())
def test_units_are_what_the_kubernetes_client_reads_rounded_up(text: str) -> None:
    assert units(text) == client_reads(text)


@patient
@given(quantities())
def test_thousandths_are_what_the_kubernetes_client_reads_rounded_up(text: str) -> None:
    assert milli(text) == client_reads(text, per_unit=1000)


@patient
@given(st.integers(-(10**15), 10**15), st.integers(-30, 30), st.sampled_from("eE"))
def test_exponents_move_the_decimal_point(number: int, exponent: int, letter: str) -> None:
    expected = Decimal(number).scaleb(exponent).to_integral_value(ROUND_CEILING)
    assert units(f"{number}{letter}{exponent}") == int(expected)


@pytest.mark.parametrize(
    ("text", "thousandths"),
    [
        ("1", 1000),
        ("1500m", 1500),
        ("0.1", 100),
        (".5", 500),
        ("1.", 1000),
        ("0.0001", 1),
        ("1u", 1),
        ("100n", 1),
        ("-0.0015", -1),
        ("2k", 2_000_000),
        ("1e2", 100_000),
        ("5E-1", 500),
        (2, 2000),
        (0.5, 500),
        (1e-05, 1),
    ],
)
def test_cpu_is_counted_in_thousandths(text: str | float, thousandths: int) -> None:
    assert milli(text) == thousandths


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("128Mi", 134217728),
        ("1.5Gi", 1610612736),
        ("1G", 10**9),
        ("1E", 10**18),
        ("1E3", 1000),
        ("1Ei", 1 << 60),
        ("1500m", 2),
        ("0", 0),
        ("8Ei", 1 << 63),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_everything_else_is_counted_in_whole_units(text: str, whole: int) -> None:
    assert units(text) == whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Gi",
        ".",
        "1 Gi",
        "1gi",
        "1KI",
        "1ki",
        "0x10",
        "1e",
        "1e3Mi",
        "--1",
        "1_000",
        "\u0661",
        "nan",
    ],
)
def test_a_bad_quantity_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity") as caught:
        units(text)
    assert repr(text) in str(caught.value)


def test_an_exponent_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="exponents go to 60"):
        units("1e999999999")
