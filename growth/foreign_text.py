"""Text that others write, read strictly: times, money, counts.

Such text is in annotations, labels, status fields, ConfigMaps and HTTP headers. Python's own
readers accept far more than is meant: `Decimal("1e999990")` needs half a minute to become an
integer, `int` accepts digits of every script, and the year 1 at +14:00 isn't a time in UTC. A
reader here accepts one form with a length, costs no more than that length, and fails with a
ValueError only. What it returns can be added up without leaving the range of its type.
"""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

MONEY_PATTERN: Final = r"^[0-9]{1,9}(\.[0-9]{1,12})?$"
LARGEST_COUNT: Final = 2**63 - 1
"""As in Kubernetes and Go."""

_LONGEST_TIME: Final = 64
_MONEY: Final = re.compile(MONEY_PATTERN)
_COUNT: Final = re.compile("[0-9]{1,19}")
_SECONDS: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
# The second form is from older examples; its last part can only be a fraction.
_TIMES: Final = (
    re.compile(
        r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII
    ),
    re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?::(\d\d))?(Z)", re.ASCII),
)
# Any span that a setting may have can be added to such a time, or subtracted from it.
_FIRST_YEAR: Final = "1970"
_LAST_YEAR: Final = "8999"


# Each pass asks when nodes were created or bought.
@functools.lru_cache(maxsize=4096)
def parse_time(written: str) -> datetime:
    """RFC 3339, in UTC; also the form of older examples, `2026-01-01 21:07:52:00Z`."""
    found = _time_in(written)
    if found is None or not _FIRST_YEAR <= found[1][:4] <= _LAST_YEAR:
        raise ValueError("must be a time such as 2026-01-01T21:07:52Z")
    day, time, fraction, zone = found.groups()
    microseconds = (fraction or "").ljust(6, "0")[:6]
    offset = "+00:00" if zone in "Zz" else zone
    return datetime.fromisoformat(f"{day}T{time}.{microseconds}{offset}").astimezone(UTC)


def time_or_none(written: str | None) -> datetime | None:
    """The same; None if there is no time, or none that can be read."""
    try:
        return parse_time(written or "")
    except ValueError:
        return None


def parse_money(written: str) -> Decimal:
    """An amount that isn't negative, without a currency or an exponent."""
    if not _MONEY.fullmatch(written):
        raise ValueError("must be an amount of money such as 0.05")
    return Decimal(written)


def parse_count(written: str) -> int:
    """A number of 64 bits that isn't negative, in ASCII digits."""
    if not _COUNT.fullmatch(written) or int(written) > LARGEST_COUNT:
        raise ValueError("must be a number such as 5")
    return int(written)


def parse_seconds(written: str) -> float:
    """Seconds that aren't negative, as in a header of HTTP."""
    if not _SECONDS.fullmatch(written):
        raise ValueError("must be a number of seconds such as 5 or 1.5")
    return float(written)


def _time_in(written: str) -> re.Match[str] | None:
    if len(written) > _LONGEST_TIME:
        return None
    return next((match for form in _TIMES if (match := form.fullmatch(written))), None)
