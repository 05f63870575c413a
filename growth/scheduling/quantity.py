"""Kubernetes quantities ("1500m", "2Gi", "1e3") as exact integers.

A quantity is parsed as a fraction of two integers, without floats. It is rounded once, upwards, as
the scheduler does. Results are cached, because the same few texts ("100m", "128Mi") are in all pods
of a cluster.
"""

from __future__ import annotations

import functools
import re

Amount = str | int | float
"""A quantity in JSON or YAML: the API server sends text, files may also have plain numbers."""

_FORM = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]{1,9}))?"
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
# No resource is this large. Without a limit, eight characters such as "1e999999" would make an
# integer of 400 kB, and a few more would make one of gigabytes.
_LARGEST_EXPONENT = 60
_LONGEST = 128


def milli(amount: Amount) -> int:
    """Thousandths, rounded up: the unit of CPU."""
    return _parsed(str(amount), 1000)


def units(amount: Amount) -> int:
    """Whole units, rounded up: bytes, pods, devices."""
    return _parsed(str(amount), 1)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str, per_unit: int) -> int:
    numerator, denominator = _fraction(text)
    # `//` rounds down, so negating before and after rounds up, exactly and for any size.
    return -(-numerator * per_unit // denominator)


def _fraction(text: str) -> tuple[int, int]:
    form = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    digits = (form["whole"] + (form["part"] or "")) if form else ""
    if form is None or not digits:
        raise ValueError(
            f"not a quantity: {text[:_LONGEST]!r}; write a number with at most one suffix, "
            "as 500m, 2 or 1.5Gi"
        )
    # "1.5Gi" is 15 with the exponent -1, times 2**30: the digits are an integer, and the point only
    # moves the decimal exponent.
    number = int(form["sign"] + digits)
    exponent = _decimal_exponent(text, form) - len(form["part"] or "")
    binary = 1 << _BINARY.get(form["suffix"] or "", 0)
    if exponent < 0:
        return number * binary, 10**-exponent
    return number * binary * 10**exponent, 1


def _decimal_exponent(text: str, form: re.Match[str]) -> int:
    exponent = int(form["exponent"] or 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        raise ValueError(f"not a quantity: {text!r}; exponents go to {_LARGEST_EXPONENT}")
    return exponent + _DECIMAL.get(form["suffix"] or "", 0)
