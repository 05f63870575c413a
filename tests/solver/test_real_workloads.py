"""Pods as in real clusters, planned on both price lists; the real ones come by GROWTH_TRACES."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import pytest

from benchmarks.__main__ import main
from benchmarks.snapshots import UNSET, VARIABLE, problem_of, snapshots
from benchmarks.workloads import catalogue
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve
from tests.solver import made_snapshots
from tests.solver.checker import complaints
from tests.solver.made_snapshots import KINDS

if TYPE_CHECKING:
    from pathlib import Path

WITHIN = {"aws": 0.12, "hetzner": 0.10}
"""Gaps at quick effort. Small snapshots need few nodes, and no bound knows that nodes are whole."""


def is_placed_near_its_bound(snapshot: Path, listed: str) -> None:
    problem = problem_of(snapshot, catalogue(listed, 0))
    plan = solve(problem, Effort.QUICK)
    assert complaints(problem, plan) == []
    assert plan.unplaced == ()
    assert plan.cost <= plan.first_fit_cost
    assert plan.gap < WITHIN[listed]


@pytest.mark.skipif(not snapshots(), reason=UNSET)
@pytest.mark.parametrize("listed", ["aws", "hetzner"])
@pytest.mark.parametrize("name", list(snapshots()))
def test_a_real_workload_is_placed_near_its_bound(name: str, listed: str) -> None:
    is_placed_near_its_bound(snapshots()[name], listed)


@pytest.mark.parametrize("listed", ["aws", "hetzner"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_of_a_real_kind_is_placed_near_its_bound(
    tmp_path: Path, kind: str, listed: str
) -> None:
    is_placed_near_its_bound(made_snapshots.written(tmp_path, kind), listed)


def written(folder: Path) -> Path:
    path = folder / "snapshot-tiny.json"
    classes = [
        {"cpu_m": 500, "mem_mib": 700, "gpu": 0, "count": 9},
        {"cpu_m": 500, "mem_mib": 700, "gpu": 0, "count": 3, "arch": "arm64"},
        {"cpu_m": 500, "mem_mib": 700, "gpu": 1, "count": 2},
    ]
    path.write_text(json.dumps({"name": "tiny", "classes": classes}))
    return path


def test_a_class_of_a_snapshot_may_use_the_offers_of_its_architecture(tmp_path: Path) -> None:
    problem = problem_of(written(tmp_path), catalogue("hetzner", 0))
    anywhere, arm, graphics = problem.classes
    assert (anywhere.count, anywhere.requests) == (9, (500, 700, 1, 0))
    assert len(anywhere.offers) == 57
    assert {name.split("/")[0][:3] for name in arm.offers} == {"cax"}
    assert graphics.offers == frozenset()


def test_each_snapshot_is_planned_on_both_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert main(["traces", "--effort", "quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines if line.startswith("tiny")] == [
        ["tiny", "aws", "14", "3"],
        ["tiny", "hetzner", "14", "3"],
    ]
    assert all("2 without a place" in line for line in lines if line.startswith("tiny"))


def test_the_benchmark_measures_snapshots_of_every_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in KINDS:
        made_snapshots.written(tmp_path, kind)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert main(["traces", "--effort", "quick", "--output", "json"]) == 0
    heading, measured = capsys.readouterr().out.strip().splitlines()
    rows = json.loads(measured)
    assert "traces" in heading
    assert {(row["snapshot"], row["list"]) for row in rows} == set(
        product(KINDS, ("aws", "hetzner"))
    )
    assert all(row["unplaced"] == 0 < row["bound"] <= row["cost"] for row in rows)


def test_without_a_folder_it_is_said_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["traces"]) == 0
    assert f"skipped: {UNSET}" in capsys.readouterr().out
