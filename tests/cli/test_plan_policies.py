"""`growth plan --policy`: what each scaling policy would buy for one's own pods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main
from tests.cli.test_plan_consolidate import market, node

if TYPE_CHECKING:
    from pathlib import Path

POLICIES = ("Demand", "Utilisation", "Desired")


def deployment(replicas: int, *, cpu: str = "1") -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
    }


def written(folder: Path, *objects: dict[str, Any], **spec: Any) -> str:
    """A file with a class, a pool with these fields, and these objects."""
    node_class, pool = market(10)
    pool["spec"] |= spec
    path = folder / "all.yaml"
    path.write_text(yaml.safe_dump_all([node_class, pool, *objects]), "utf-8")
    return str(path)


def planned(path: str, capsys: pytest.CaptureFixture[str], policy: str = "all") -> dict[str, Any]:
    assert main(["plan", "-f", path, "--policy", policy, "--effort", "quick", "-o", "json"]) == 0
    return {each["policy"]: each for each in json.loads(capsys.readouterr().out)}


def test_each_policy_buys_what_it_would_buy_in_a_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = planned(written(tmp_path, deployment(10)), capsys)
    assert tuple(found) == POLICIES
    # Ten pods of 1 CPU: eight and two.
    assert found["Demand"]["machines"] == {"large": 1, "small": 1}
    # 10 CPU at 70 % are 14.3 CPU, which these have at the least cost.
    assert found["Utilisation"]["machines"] == {"large": 2}
    # As many of the first type as the sums of the pods need.
    assert found["Desired"]["machines"] == {"small": 5}
    assert [each["unplaced"] for each in found.values()] == [[], [], []]
    assert found["Demand"]["costsPerDay"] == {"": pytest.approx(24 * 0.046)}


def test_settings_of_the_pool_count_for_its_own_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = {"preferredInstanceType": "large", "scaleUpBatchSize": 1, "minNodes": 3}
    path = written(tmp_path, deployment(10), scaling={"policy": "Desired", "desired": fields})
    assert planned(path, capsys)["Desired"]["machines"] == {"large": 3}


def test_pods_that_a_policy_gives_no_place_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Desired buys the first type, on which such a pod doesn't fit.
    found = planned(written(tmp_path, deployment(2, cpu="6")), capsys)
    assert [len(each["unplaced"]) for each in found.values()] == [0, 0, 2]
    assert found["Desired"]["nodes"] == 0


def test_nodes_that_are_there_already_are_not_bought_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = [node(f"default-{number}", "large") for number in range(2)]
    found = planned(written(tmp_path, deployment(10), *there), capsys)
    assert [each["nodes"] for each in found.values()] == [0, 0, 0]


def test_people_get_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "-f", written(tmp_path, deployment(10)), "--policy", "all"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "POLICY"
    assert [row.split()[0] for row in rows[:3]] == list(POLICIES)
    assert rows[0].endswith("1 x large, 1 x small")


def test_one_policy_can_be_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, deployment(10))
    assert list(planned(path, capsys, "Utilisation")) == ["Utilisation"]
    assert main(["plan", "-f", path, "--policy", "Desired", "--consolidate"]) == 2
    assert "either --consolidate or --policy" in capsys.readouterr().err
