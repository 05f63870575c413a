"""`growth plan --consolidate`: what could go, what would come, who stays and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main
from growth.cli.plan import reading as plan_reading
from reconciler.solver import Effort
from reconciler.solver.renewal.renew import renew

if TYPE_CHECKING:
    from pathlib import Path

    from reconciler.solver import Renewal, Renewed

TYPES = {"small": ("2", "4Gi", "0.010"), "large": ("8", "16Gi", "0.036")}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web"}


def market(most: int) -> list[dict[str, Any]]:
    sold = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, (cpu, memory, price) in TYPES.items()
    ]
    entries = [{"name": name, "max": most} for name in TYPES]
    return [ours("KwokNodeClass", types=sold), ours("NodePool", serverTypes=entries)]


def ours(kind: str, **spec: Any) -> dict[str, Any]:
    version = "growth.dev/v1alpha1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "default"}, "spec": spec}


def node(name: str, server_type: str) -> dict[str, Any]:
    cpu, memory, price = TYPES[server_type]
    labels = {
        "growth.dev/pool": "default",
        "growth.dev/managed-by": "growth",
        "growth.dev/instance-type": server_type,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"growth.dev/price": price}},
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, on: str, /, *, cpu: str = "500m", **metadata: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    owned = {"ownerReferences": [{**OWNER, "controller": True}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name} | owned | metadata,
        "spec": {"nodeName": on, "containers": [container]},
        "status": {"phase": "Running"},
    }


def told(
    folder: Path,
    *documents: dict[str, Any],
    output: str = "text",
    effort: str = "thorough",
    most: int = 10,
    **limits: Any,
) -> int:
    path = folder / "manifests.yaml"
    sold, pool = market(most)
    pool["spec"] |= {"limits": limits} if limits else {}
    path.write_text(yaml.safe_dump_all([sold, pool, *documents]))
    return main(["plan", "--consolidate", "-f", str(path), "-o", output, "--effort", effort])


HALF_EMPTY = [
    each
    for number in (1, 2, 3)
    for each in (node(f"default-{number}", "large"), pod(f"web-{number}", f"default-{number}"))
]


def test_people_read_what_goes_what_comes_and_what_that_saves(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert told(tmp_path, *HALF_EMPTY) == 0
    header, goes, comes, _, summary, last = capsys.readouterr().out.splitlines()
    assert header.split() == ["POOL", "TYPE", "PLACE", "NODES", "PODS", "PER", "HOUR"]
    assert goes.split() == ["goes", "default", "large", "3", "3", "-0.1080"]
    assert comes.split() == ["comes", "default", "small", "here", "1", "0.0100"]
    assert summary.startswith("0.1080 per hour becomes 0.0100, 91 % less (71.54 per month)")
    assert last.startswith("Nothing was changed")


def test_programs_read_each_node_with_its_pods(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told(tmp_path, *HALF_EMPTY, output="json")
    found = json.loads(capsys.readouterr().out)
    assert found["result"] == "Cheaper"
    assert found["saving"] == pytest.approx(0.098)
    assert [each["pods"] for each in found["goes"]] == [[f"default/web-{n}"] for n in (1, 2, 3)]
    assert found["evictions"] == 3


def test_what_is_as_cheap_as_it_can_be_stays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    full = [pod(f"web-{number}", "default-1") for number in range(4)]
    told(tmp_path, node("default-1", "small"), *full)
    assert capsys.readouterr().out == (
        "Nothing cheaper is possible within the pools' limits: 0.0100 per hour.\n"
    )


def test_a_node_that_stays_for_a_pods_sake_is_named_with_the_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    held = pod("db-0", "default-1", annotations={"growth.dev/do-not-disrupt": "true"})
    told(tmp_path, node("default-1", "large"), held)
    assert "default-1 stays: default/db-0 can't be evicted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"cpu": "8"}, "limits.cpu"),
        ({"nodes": 1}, "limits.nodes"),
        ({"nodes": 1, "memory": "16Gi"}, "limits.nodes and limits.memory"),
        ({"hourlyCost": "0.0400", "memory": "100Gi"}, "limits.hourlyCost"),
    ],
)
def test_the_limit_that_keeps_a_saving_away_is_named_with_the_saving(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, limits: dict[str, Any], named: str
) -> None:
    half_empty = (node("default-1", "large"), pod("web-1", "default-1"))
    told(tmp_path, *half_empty, **limits)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "Nothing cheaper is possible within the pools' limits: 0.0360 per hour.",
        f"Without {named} of pool default: 0.0100 per hour.",
    ]
    told(tmp_path, *half_empty, output="json", **limits)
    hindrance = json.loads(capsys.readouterr().out)["hindrance"]
    assert (" and ".join(hindrance["limits"]), hindrance["pools"]) == (named, ["default"])
    assert hindrance["saving"] == pytest.approx(0.026)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Renewal, Effort]]:
    """Each search with its effort, as they come."""
    asked: list[tuple[Renewal, Effort]] = []

    def noted(question: Renewal, effort: Effort, *, seconds: float) -> Renewed:
        asked.append((question, effort))
        return renew(question, effort, seconds=seconds)

    monkeypatch.setattr(plan_reading, "renew", noted)
    return asked


def test_only_what_could_go_is_searched_for_with_the_effort_that_was_asked_for(
    searches: list[tuple[Renewal, Effort]], tmp_path: Path
) -> None:
    half_empty = (node("default-1", "large"), pod("web-1", "default-1"))
    told(tmp_path, *half_empty, nodes=1, memory="16Gi")
    first, *others = [effort for _, effort in searches]
    assert first is Effort.THOROUGH
    assert set(others) == {Effort.QUICK}


def test_without_limits_a_pool_may_buy_no_less_than_with_them(
    searches: list[tuple[Renewal, Effort]], tmp_path: Path
) -> None:
    half_empty = (node("default-1", "large"), pod("web-1", "default-1"))
    told(tmp_path, *half_empty, most=50_000, hourlyCost="0.0360")
    first, lifted, *_ = [_most(question) for question, _ in searches]
    assert first == 49_999
    assert lifted >= first


def _most(question: Renewal) -> int:
    """How many could be bought of the type that may be bought least often."""
    return min(each.most for each in question.problem.limits if "max of" in each.name)


def test_a_node_that_is_idle_is_named_as_nobody_is_planned_onto_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    half_empty = (node("default-1", "large"), pod("web-1", "default-1"))
    told(tmp_path, *half_empty, node("default-2", "small"))
    assert capsys.readouterr().out.splitlines()[-1] == (
        "  idle nodes that are removed anyway get no pods: default-2"
    )
