"""What a server costs over time: every started hour, up to the monthly price in each month."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR = timedelta(hours=1)


def cost(created: datetime, ended: datetime, *, hourly: Decimal, monthly: Decimal) -> Decimal:
    """What a server costs from its creation to its end."""
    return sum(
        (min(hours * hourly, monthly) for hours in _hours_by_month(created, ended)), Decimal(0)
    )


def _hours_by_month(created: datetime, ended: datetime) -> Iterator[int]:
    """The number of started hours in each calendar month, by the month in which an hour starts."""
    begun = max(1, math.ceil((ended - created) / HOUR))
    start = created
    while begun > 0:
        hours = min(begun, math.ceil((_next_month(start) - start) / HOUR))
        yield hours
        begun -= hours
        start += hours * HOUR


def _next_month(moment: datetime) -> datetime:
    year, month = divmod(moment.year * 12 + moment.month, 12)
    return datetime(year, month + 1, 1, tzinfo=UTC)
