"""The benchmarks of scaling policies run in small, on a trace and a snapshot of a few pods."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.__main__ import main
from benchmarks.traced import PodSize, bound_over_time, traced_pods
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from pathlib import Path

LARGE = PodSize(8000, 20_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four pods of two apps, of which one is too large."""
    pods = [
        {"t": 0, "end": 600.0, "cpu_m": 1000, "mem_mib": 2048, "app": "a"},
        {"t": 60, "end": None, "cpu_m": 2000, "mem_mib": 4096, "app": "a"},
        {"t": 60, "end": None, "cpu_m": 64_000, "mem_mib": 4096, "app": "b"},
        {"t": 7200, "end": None, "cpu_m": 1000, "mem_mib": 4096, "app": "b"},
    ]
    text = "\n".join(map(json.dumps, pods))
    (tmp_path / "little.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    classes = [{"cpu_m": 1000, "mem_mib": 2048, "gpu": 0, "count": 40}]
    snapshot = json.dumps({"classes": classes})
    (tmp_path / "snapshot-little.json").write_text(snapshot, "utf-8")
    monkeypatch.setenv("GROWTH_TRACES", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_trace_is_cut_and_what_fits_nothing_is_left_out() -> None:
    found = traced_pods("little", one_of=1, until=3600.0, largest=LARGE)
    assert [(pod.begins, pod.ends, pod.size.cpu) for pod in found] == [
        (0, 600.0, 1000),
        (60, 3600.0, 2000),
    ]
    with pytest.raises(Misconfigured, match="with this trace: other"):
        traced_pods("other", one_of=1, until=1.0, largest=LARGE)


@pytest.mark.usefixtures("folder")
def test_the_bound_follows_the_pods_that_are_alive() -> None:
    found = traced_pods("little", one_of=1, until=3600.0, largest=LARGE)
    all_of_them = bound_over_time(found, ["cx33"], until=3600.0)
    one = bound_over_time(found[1:], ["cx33"], until=3600.0)
    assert 0 < one < all_of_them


@pytest.mark.usefixtures("folder")
def test_a_day_is_played_under_each_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", "--trace", "little", "--hours", "0.1", "--one-of", "1"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1].startswith("2 pods of little, 0.1 hours")
    assert [line.split()[0] for line in told[3:6]] == ["Demand", "Utilisation", "Desired"]


@pytest.mark.usefixtures("folder")
def test_many_types_are_compared_with_the_best_single_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["manytypes"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[3:5]]
    assert [row[:2] for row in rows] == [["little", "aws"], ["little", "hetzner"]]
    assert all(float(row[-2]) <= 1.0 for row in rows)
