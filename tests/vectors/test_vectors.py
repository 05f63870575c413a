"""The rows of the kinds that can be run already; the others are told."""

from __future__ import annotations

import json
import sys
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


def test_kinds_that_are_still_to_come_are_told() -> None:
    kinds = {row.kind for row in ROWS if not waiver_of(row)}
    to_come = kinds - {row.kind for row in RUNNABLE}
    sys.stdout.write(f"{len(to_come)} kinds still to come: {', '.join(sorted(to_come))}\n")
    assert to_come < kinds


def test_every_waiver_is_for_rows_that_there_are() -> None:
    found = {waiver_of(row) for row in ROWS}
    assert set(WAIVERS.values()) <= found


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
        ({"expected": {"daemonset": True, "more": None}}, "more: expected None, got None"),
        ({"given": {}}, "KeyError"),
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
