"""How many nodes of a pool may be disrupted, by number, share, reason and time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from growth.api.disruption import DisruptionReason
from growth.instant import Instant
from reconciler.core.decision import NEVER
from reconciler.replacement.allowance import allowed_disruptions, next_change
from tests.reconciler.build import pool

CONSOLIDATION, DRIFT, UNHEALTHY = DisruptionReason
MONDAY = "2026-01-05"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NOON = Instant(1000.0, datetime(2026, 1, 5, 12, tzinfo=UTC))


def moment(written: str) -> Instant:
    """A wall clock's moment; the other clock stands at 1000."""
    return Instant(1000.0, datetime.fromisoformat(f"{written}+00:00"))


def window(start: str, duration: str, *days: str) -> dict[str, Any]:
    return {"start": start, "duration": duration, "days": list(days)}


def left(
    *budgets: dict[str, Any],
    reason: DisruptionReason = DRIFT,
    nodes: int = 20,
    disrupted: int = 0,
    now: Instant = NOON,
) -> int:
    limited = pool(disruption={"budgets": list(budgets)})
    return allowed_disruptions(limited, reason, nodes=nodes, disrupted=disrupted, now=now)


# How many


@pytest.mark.parametrize(
    ("budget", "nodes", "most"),
    [
        (3, 20, 3),
        (3, 2, 3),
        (0, 20, 0),
        ("10%", 20, 2),
        ("10%", 21, 3),
        ("10%", 1, 1),
        ("10%", 0, 0),
        ("0%", 20, 0),
        ("100%", 20, 20),
        ("99%", 100, 99),
    ],
)
def test_a_share_is_rounded_up_and_a_number_is_one(
    budget: int | str, nodes: int, most: int
) -> None:
    assert left({"nodes": budget}, nodes=nodes) == most


def test_what_is_disrupted_already_counts() -> None:
    assert left({"nodes": 5}, disrupted=3) == 2


def test_more_than_is_allowed_leaves_nothing_and_not_less() -> None:
    assert left({"nodes": 5}, disrupted=7) == 0


def test_of_all_budgets_that_apply_the_smallest_counts() -> None:
    assert left({"nodes": "50%"}, {"nodes": 4}, {"nodes": 7}) == 4


def test_without_budgets_all_nodes_may_be_disrupted() -> None:
    assert left(nodes=20, disrupted=3) == 17


def test_a_pool_that_says_nothing_has_a_tenth_disrupted() -> None:
    assert allowed_disruptions(pool(), DRIFT, nodes=30, disrupted=0, now=NOON) == 3


# Why


@pytest.mark.parametrize("reason", DisruptionReason)
def test_a_budget_without_reasons_limits_everything(reason: DisruptionReason) -> None:
    assert left({"nodes": 1}, reason=reason) == 1


@pytest.mark.parametrize(("reason", "most"), [(CONSOLIDATION, 20), (DRIFT, 0), (UNHEALTHY, 0)])
def test_a_budget_with_reasons_limits_only_those(reason: DisruptionReason, most: int) -> None:
    assert left({"nodes": 0, "reasons": ["Drift", "Unhealthy"]}, reason=reason) == most


@pytest.mark.parametrize(("reason", "most"), [(CONSOLIDATION, 0), (DRIFT, 5), (UNHEALTHY, 5)])
def test_a_pool_that_is_never_consolidated_is_repaired_still(
    reason: DisruptionReason, most: int
) -> None:
    never = pool(disruption={"consolidation": "Never", "budgets": [{"nodes": 5}]})
    assert allowed_disruptions(never, reason, nodes=20, disrupted=0, now=NOON) == most


# When

NIGHT = window("22:00", "8h")
FRIDAY_NIGHT = window("22:00", "8h", "Friday")
SUNDAY_NIGHT = window("22:00", "8h", "Sunday")
ALL_DAY = window("09:00", "24h", "Monday", "Tuesday")
MINUTE = window("00:00", "1m")

OPEN = {
    "at its first moment": (NIGHT, "2026-01-05T22:00:00"),
    "past midnight": (NIGHT, "2026-01-06T03:00:00"),
    "to its last moment": (NIGHT, "2026-01-06T05:59:59.999999"),
    "on its day": (FRIDAY_NIGHT, "2026-01-09T23:00:00"),
    "on the day after its day": (FRIDAY_NIGHT, "2026-01-10T05:00:00"),
    "past the end of the week": (SUNDAY_NIGHT, "2026-01-12T05:00:00"),
    "past the end of the year": (NIGHT, "2026-01-01T05:00:00"),
    "on a leap day": (NIGHT, "2028-02-29T23:00:00"),
    "a whole day long": (ALL_DAY, "2026-01-06T08:59:59"),
    "two whole days in a row": (ALL_DAY, "2026-01-06T09:00:00"),
    "for a minute": (MINUTE, "2026-01-07T00:00:59"),
}
CLOSED = {
    "not a moment before": (NIGHT, "2026-01-05T21:59:59.999999"),
    "not at its end": (NIGHT, "2026-01-06T06:00:00"),
    "not in the night before its day": (FRIDAY_NIGHT, "2026-01-09T05:00:00"),
    "not in the night after": (FRIDAY_NIGHT, "2026-01-10T23:00:00"),
    "not after the second": (ALL_DAY, "2026-01-07T09:00:00"),
    "for no more than that": (MINUTE, "2026-01-07T00:01:00"),
}


@pytest.mark.parametrize(("opening", "now"), OPEN.values(), ids=OPEN.keys())
def test_a_budget_applies_in_its_window(opening: dict[str, Any], now: str) -> None:
    assert left({"nodes": 0, "window": opening}, now=moment(now)) == 0


@pytest.mark.parametrize(("opening", "now"), CLOSED.values(), ids=CLOSED.keys())
def test_a_budget_applies_only_in_its_window(opening: dict[str, Any], now: str) -> None:
    assert left({"nodes": 0, "window": opening}, now=moment(now)) == 20


CHANGES = {
    "it opens today": (NIGHT, "2026-01-05T21:00:00", timedelta(hours=1)),
    "it closes tomorrow": (NIGHT, "2026-01-05T23:00:00", timedelta(hours=7)),
    "it closes today": (NIGHT, "2026-01-05T05:00:00", timedelta(hours=1)),
    "it has just closed": (NIGHT, "2026-01-05T06:00:00", timedelta(hours=16)),
    "it opens in a week": (FRIDAY_NIGHT, "2026-01-10T06:00:00", timedelta(days=6, hours=16)),
    "it has just opened": (FRIDAY_NIGHT, "2026-01-09T22:00:00", timedelta(hours=8)),
}


@pytest.mark.parametrize(("opening", "now", "wait"), CHANGES.values(), ids=CHANGES.keys())
def test_the_next_change_comes_when(opening: dict[str, Any], now: str, wait: timedelta) -> None:
    limited = pool(disruption={"budgets": [{"nodes": 0, "window": opening}]})
    assert next_change(limited, moment(now)) == 1000.0 + wait.total_seconds()


def test_of_several_windows_the_next_change_is_the_first() -> None:
    budgets = [{"nodes": 0, "window": NIGHT}, {"nodes": 0, "window": MINUTE}, {"nodes": 1}]
    limited = pool(disruption={"budgets": budgets})
    assert next_change(limited, moment("2026-01-05T23:00:00")) == 1000.0 + 3600


def test_nothing_changes_without_windows() -> None:
    assert next_change(pool(), NOON) == NEVER


MINUTES = 7 * 24 * 60


@examples(
    days=st.sets(st.sampled_from(DAYS)),
    start=st.integers(0, 24 * 60 - 1),
    lasts=st.integers(1, 24 * 60),
    minute=st.integers(0, MINUTES - 1),
)
def test_a_window_is_open_exactly_in_the_minutes_after_each_of_its_openings(
    days: set[str], start: int, lasts: int, minute: int
) -> None:
    opening = window(f"{start // 60:02}:{start % 60:02}", f"{lasts}m", *sorted(days))
    now = Instant(0.0, datetime.fromisoformat(f"{MONDAY}T00:00:00+00:00"))
    now = Instant(60.0 * minute, now.wall + timedelta(minutes=minute))
    limited = pool(disruption={"budgets": [{"nodes": 0, "window": opening}]})
    minutes_open = {
        (24 * 60 * number + start + later) % MINUTES
        for number, day in enumerate(DAYS)
        if not days or day in days
        for later in range(lasts)
    }

    may = allowed_disruptions(limited, DRIFT, nodes=1, disrupted=0, now=now)

    assert may == (0 if minute in minutes_open else 1)
    # Nothing changes before the moment that is told.
    change = round(next_change(limited, now) / 60)
    assert change > minute
    states = {each % MINUTES in minutes_open for each in range(minute, change)}
    assert len(states) == 1
