"""`growth plan` places pods together with the pods that they must be near."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from growth.cli.__main__ import main

if TYPE_CHECKING:
    import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def term(key: str, app: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def deployment(
    app: str, replicas: int = 1, /, *, cpu: str = "1", memory: str = "1Gi", **affinity: Any
) -> dict[str, Any]:
    """A deployment; `near` and `apart` are the terms that its pods require."""
    kinds = {"near": "podAffinity", "apart": "podAntiAffinity"}
    required = {
        kinds[kind]: {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}
        for kind, rule in affinity.items()
    }
    container = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": app},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {
                "metadata": {"labels": {"app": app}},
                "spec": {"containers": [container], "affinity": required},
            },
        },
    }


def planned(folder: Path, pool: str, *documents: dict[str, Any]) -> int:
    manifests = folder / "manifests.yaml"
    manifests.write_text(yaml.safe_dump_all(documents))
    return main(["plan", "-f", str(EXAMPLES / pool / "pool.yaml"), str(manifests), "-o", "json"])


HOST = "kubernetes.io/hostname"


def test_a_machine_holds_the_anchor_the_follower_and_a_third(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follower = deployment("follower", memory="2Gi", near=term(HOST, "anchor"))
    anchor = deployment("anchor", cpu="500m", memory="512Mi")
    assert planned(tmp_path, "kwok", anchor, follower, deployment("other")) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [(node["serverType"], len(node["pods"])) for node in plan["nodes"]] == [("cx33", 3)]
    assert (plan["cost"], plan["stop"]) == (0.0136, "proven optimal")


def test_no_follower_is_left_out_where_others_take_the_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = deployment("web", 2, near=term(HOST, "cache"))
    assert planned(tmp_path, "hetzner", deployment("cache", 2), web, deployment("job", 4)) == 0
    plan = json.loads(capsys.readouterr().out)
    assert sum(len(node["pods"]) for node in plan["nodes"]) == 8
    assert plan["stop"] == "proven optimal"
    for node in plan["nodes"]:
        apps = {name.removeprefix("default/").split("-")[0] for name in node["pods"]}
        assert "cache" in apps or "web" not in apps


def test_pods_that_are_planned_after_others_are_never_called_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loud = deployment("loud")
    shy = deployment("shy", apart=term("topology.kubernetes.io/zone", "loud"))
    assert planned(tmp_path, "kwok", loud, shy) == 0
    plan = json.loads(capsys.readouterr().out)
    assert len(plan["nodes"]) == 2
    assert plan["gap"] is None
    assert plan["stop"] != "proven optimal"


def test_a_pod_without_room_beside_its_anchor_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = deployment("web", cpu="7", near=term(HOST, "store"))
    assert planned(tmp_path, "kwok", deployment("store", cpu="7"), web) == 1
    (told,) = json.loads(capsys.readouterr().out)["unplaced"]
    assert told["pod"].startswith("default/web")
    assert told["reason"] == (
        "its pod affinity requires the same kubernetes.io/hostname as pods with app=store, "
        "where no node has room for it"
    )
