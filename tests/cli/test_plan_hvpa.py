"""`growth plan hvpa`: the staircase of a workload, told to people and to programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples/sizing"
HVPA = EXAMPLE / "hvpa.yaml"
QUICK = ["--effort", "quick"]


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., str]:
    """The example's Hvpa with other fields in its spec, without the workload."""

    def write(**fields: Any) -> str:
        hvpa = next(yaml.safe_load_all(HVPA.read_text()))
        hvpa["spec"] |= fields
        path = tmp_path / "hvpa.yaml"
        path.write_text(yaml.safe_dump(hvpa))
        return str(path)

    return write


def test_the_staircase_shows_sizes_nodes_and_cost(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "hvpa", "-f", str(EXAMPLE), *QUICK, "--load", "cpu=0..12"]
    assert main(words) == 0
    first = capsys.readouterr().out
    lines = [line.split("  ") for line in first.splitlines()]
    assert [cell.strip() for cell in lines[11] if cell] == [
        "CPU",
        "REPLICAS",
        "CPU OF A POD",
        "NODES",
        "PER HOUR",
    ]
    assert [line[0] for line in lines[12:16]] == [
        "0 to 0.5",
        "0.51 to 2",
        "2.01 to 6",
        "6.01 to 12",
    ]
    assert main(words) == 0
    assert capsys.readouterr().out == first


def test_programs_get_each_stair(capsys: pytest.CaptureFixture[str]) -> None:
    loads = ["--load", "cpu=0..12", "memory=0..24Gi"]
    assert main(["plan", "hvpa", "-f", str(EXAMPLE), *QUICK, *loads, "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["replicas"] for each in found["up"]] == [1, 2, 3, 4]
    assert [each["replicas"] for each in found["down"]] == [4, 3, 2, 1]
    assert found["up"][-1] == {
        "replicas": 4,
        "from": {
            "load": {"cpu": 6.01, "memory": 12.02 * 2**30},
            "pod": {"cpu": 2.0, "memory": 4 * 2**30},
        },
        "to": {
            "load": {"cpu": 12.0, "memory": 24 * 2**30},
            "pod": {"cpu": 3.0, "memory": 6 * 2**30},
        },
        "nodes": ["cx43", "cx43"],
        "costs": {"EUR": 0.0496},
        "unplaced": [],
    }


def test_without_a_pool_it_shows_the_sizes(
    changed: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    interval = {"maxReplicas": 3, "maxResources": {"cpu": 1}}
    path = changed(scalingIntervals=[interval | {"effectiveIntervalExtrapolation": "linear"}])
    assert main(["plan", "hvpa", "-f", path, "--load", "cpu=1..3"]) == 0
    out = capsys.readouterr().out
    assert "2.002 to 3  3         1" in out
    assert "for nodes and cost, pass the workload, a NodePool and its node class" in out


def test_a_size_that_no_machine_has_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    loads = ["--load", "cpu=0..60"]
    assert main(["plan", "hvpa", "-f", str(EXAMPLE), *QUICK, *loads]) == 1
    out = capsys.readouterr().out
    assert "5 pods without a place" in out
    assert "no place: " in out


def test_the_page_shows_what_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs/concepts/sizing.md").read_text("utf-8")
    _, said, printed = next(b for b in page.split("```\n") if b.startswith("$ ")).partition("\n")
    assert said
    monkeypatch.chdir(ROOT)
    words = ["plan", "hvpa", "-f", "docs/examples/sizing", "--load", "cpu=0..12", "memory=0..24Gi"]
    assert main(words) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        ([], "which load? Add --load cpu=0..12"),
        (["--load", "cpu=12"], "write cpu=LOWEST..HIGHEST"),
        (["--load", "gpu=0..1"], "write cpu=LOWEST..HIGHEST"),
        (["--load", "cpu=0..much"], "not a quantity: 'much'"),
        (["--load", "cpu=3..1"], "the second amount must be the larger one"),
        (["--load", "cpu=0..1", "cpu=0..2"], "two loads of cpu"),
        (["--load", "cpu=0..1", "--container", "proxy"], "the workload has api"),
        (["--load", "cpu=0..1", "--from-cluster"], "leave --load out"),
        (["--load", "cpu=0..1", "--consolidate"], "--consolidate doesn't go with hvpa"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    words: list[str], mistake: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "hvpa", "-f", str(EXAMPLE), *words]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert mistake in told[0]


def test_intervals_with_a_gap_are_told_with_their_line(
    changed: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    falls = [
        {"maxReplicas": 1, "maxResources": {"cpu": 4}},
        {"maxReplicas": 2, "maxResources": {"cpu": 1}},
    ]
    path = changed(scalingIntervals=falls)
    assert main(["plan", "hvpa", "-f", path, "--load", "cpu=0..1"]) == 2
    told = capsys.readouterr().err
    assert 'Hvpa "api": spec.scalingIntervals[1]: the total of 2 replicas' in told


def test_a_plan_for_all_files_says_that_it_leaves_an_hvpa_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "-f", str(EXAMPLE), *QUICK]) == 0
    assert "not planned: Hvpa shop/api (its workload is planned as it is written" in (
        capsys.readouterr().out
    )


def test_an_hvpa_is_needed_and_one_only(capsys: pytest.CaptureFixture[str]) -> None:
    load = ["--load", "cpu=0..1"]
    assert main(["plan", "hvpa", "-f", str(EXAMPLE / "pool.yaml"), *load]) == 2
    assert "no Hvpa in the files" in capsys.readouterr().err
    assert main(["plan", "-f", str(EXAMPLE), *load]) == 2
    assert "are for growth plan hvpa" in capsys.readouterr().err
