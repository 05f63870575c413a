"""What growth observe report says of the status of pools."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from growth.api.observed import ObservedStatus
from growth.cli.observe.command import NOTHING, report_lines
from growth.cli.observe.reporting import observation_report
from tests.reconciler.build import START, pool

NOW = START + timedelta(hours=5)


def hour(number: int, **figures: Any) -> dict[str, Any]:
    at = (START + timedelta(hours=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"at": at, "watched": 3600} | figures


def observed(*hours: dict[str, Any], **fields: Any) -> Any:
    status = ObservedStatus.model_validate(
        {
            "since": "2026-01-01T00:10:00Z",
            "until": "2026-01-01T05:00:00Z",
            "currency": "EUR",
            "hours": hours,
        }
        | fields
    )
    made = pool(mode="Observe")
    return made.model_copy(update={"status": made.status.model_copy(update={"observed": status})})


def lines(*pools: Any, span: timedelta | None = None) -> list[str]:
    return list(report_lines(observation_report(pools, span=span, now=NOW)))


def test_the_report_sets_both_sides_beside_each_other() -> None:
    one = hour(1, bought=2, machineSeconds=7200, cost="0.50", joined=3, nodeSeconds=10800)
    two = hour(2, givenBack=1, machineSeconds=3600, cost="0.25", left=1, nodeCost="1.5")
    _, _, growth, others, *_ = lines(observed(one, two))
    assert growth.split() == ["growth", "would", "2", "1", "3.0", "0.75", "EUR", "0.0"]
    assert others.split() == ["others", "did", "3", "1", "3.0", "1.50", "EUR", "0.0"]


def test_a_period_leaves_out_what_was_before() -> None:
    pools = [observed(hour(1, bought=2), hour(4, bought=1))]
    (all_of_it,) = observation_report(pools, span=None, now=NOW).pools
    (of_an_hour,) = observation_report(pools, span=timedelta(hours=1), now=NOW).pools
    assert (all_of_it.growth.came, of_an_hour.growth.came) == (3, 1)
    assert (all_of_it.watched_hours, of_an_hour.watched_hours) == (2, 1)


def test_the_report_says_what_its_figures_leave_out() -> None:
    text = " ".join(" ".join(lines(observed(hour(1)))).split())
    assert "what would have happened, not what did" in text
    assert "aren't consolidated" in text


def test_without_an_observation_the_report_says_how_to_begin_one() -> None:
    assert lines(pool()) == [NOTHING]
