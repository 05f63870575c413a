"""The product answers every row as the reference does, but for those that are argued away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.vectors import __main__ as command
from tests.vectors.judging import Judgement, Outcome, judge
from tests.vectors.registry import adapter_of
from tests.vectors.rows import Choice, Row, chosen
from tests.vectors.waivers import WAIVERS, waiver_of

if TYPE_CHECKING:
    from pathlib import Path

ROWS = chosen(Choice())
RUNNABLE = [row for row in ROWS if adapter_of(row.system, row.kind) and not waiver_of(row)]


@pytest.mark.parametrize("row", RUNNABLE, ids=lambda row: row.name)
def test_the_product_answers_as_the_reference(row: Row) -> None:
    assert judge(row) == Judgement(row, Outcome.PASSED)


def test_every_row_that_is_not_argued_away_is_run() -> None:
    assert [row.name for row in ROWS if not waiver_of(row) and row not in RUNNABLE] == []


LATE = {"phase": "Provisioning", "age_seconds": 301, "timeout_seconds": 300}
COOLING_OFF = {"phase": "Pending", "cooling_off_seconds": 300, "elapsed_seconds": 1}
# Of these the original's tests have rows, of which the copy here has none that is answered
# differently.
LIKE_THE_ORIGINAL_S = [
    ("request_step", LATE | {"provider_status": "Creating"}, {"phase": "Unmet"}),
    ("removal_step", COOLING_OFF, {"phase": "Deprovisioning"}),
]


def test_every_waiver_is_for_rows_that_are_answered_differently() -> None:
    more = [
        Row(system="growth", name="like the original's", kind=kind, given=given, expected=expected)
        for kind, given, expected in LIKE_THE_ORIGINAL_S
    ]
    judged = [judge(row) for row in (*ROWS, *more)]
    waived = {each.reason for each in judged if each.outcome is Outcome.WAIVED}
    assert waived == {each.reason for each in WAIVERS}


def test_a_row_that_may_be_answered_differently_has_passed_where_it_is_not() -> None:
    row = Row(
        system="growth",
        name="cooling off",
        kind="removal_step",
        given=COOLING_OFF,
        expected={"phase": "Pending", "requeue": True},
    )
    assert waiver_of(row)
    assert judge(row).outcome is Outcome.PASSED


DAEMON = Row(
    system="growth",
    name="daemon",
    kind="is_daemonset",
    given={"owner": "DaemonSet"},
    expected={"daemonset": True},
)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"expected": {"daemonset": False}}, "expected False, got True"),
        ({"expected": {"daemonset": 1}}, "expected 1, got True"),
        ({"expected": {"max_daemonset": "few"}}, "TypeError"),
        (
            {"expected": {"daemonset": True, "more": None}},
            "more: expected None, and nothing answers that",
        ),
        ({"given": {}}, "the adapter of is_daemonset finds nothing under 'owner'"),
        ({"given": {"owner": None, "moon": "full"}}, "(its adapter doesn't read: moon)"),
        ({"kind": "unheard of"}, "has no adapter"),
        ({"system": "another"}, "has no adapter"),
    ],
)
def test_a_row_that_is_not_answered_as_expected_fails(
    changes: dict[str, object], reason: str
) -> None:
    assert judge(DAEMON).outcome is Outcome.PASSED
    failed = judge(Row(**(vars(DAEMON) | changes)))
    assert failed.outcome is Outcome.FAILED
    assert reason in failed.text


def test_the_environment_chooses_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    owned = {"kind": "is_daemonset", "input": {"owner": None}}
    rows = [
        owned | {"name": "a", "expected": {"daemonset": True}},
        owned | {"name": "b", "expected": {"daemonset": False}},
        {"name": "c", "kind": "unknown", "input": {}, "expected": {}},
    ]
    (tmp_path / "growth.json").write_text(json.dumps(rows))
    monkeypatch.setenv("GROWTH_VECTORS", str(tmp_path))

    assert command.main() == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("failed: growth: a: daemonset: expected True")
    assert told[1:] == [
        'failed: growth: c: the kind "unknown" has no adapter',
        "1 passed, 2 failed",
    ]

    monkeypatch.setenv("GROWTH_VECTORS_KINDS", "is_daemonset, parse_cpu")
    assert command.main() == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed"

    monkeypatch.setenv("GROWTH_VECTORS_SYSTEMS", "growth,missing")
    assert command.main() == 1
    assert "missing.json" in capsys.readouterr().out


def test_files_of_rows_are_run_wherever_they_are_and_whatever_follows_the_system_s_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"name": "a", "kind": "is_daemonset", "input": {"owner": None}}
    one, other = tmp_path / "growth-kept_back.json", tmp_path / "folder"
    other.mkdir()
    one.write_text(json.dumps([row | {"expected": {"daemonset": False}}]))
    (other / "growth.json").write_text(json.dumps([row | {"expected": {"daemonset": False}}]))

    assert command.main([str(one), str(other)]) == 0
    assert capsys.readouterr().out == "2 passed, 0 failed\n"
    assert command.main([str(tmp_path / "elsewhere.json")]) == 1
    assert "elsewhere.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no JSON: Expecting property name"),
        ("{}", "is no list of rows"),
        ("[7]", "it has no name and no kind and no input and no expected"),
        ('[{"name": "a", "kind": "solve", "input": [], "expected": {}}]', "it has no input"),
        ('[{"name": "a", "kind": "solve", "input": {}, "expected": {}}]', "nothing under"),
    ],
    ids=["no JSON", "no list", "no row", "no input", "an empty input"],
)
def test_what_is_no_row_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    file = tmp_path / "growth.json"
    file.write_text(text)

    assert command.main([str(file)]) == 1
    line, counted = capsys.readouterr().out.splitlines()
    assert line.startswith("failed: growth: ")
    assert told in line
    assert counted == "0 passed, 1 failed"
