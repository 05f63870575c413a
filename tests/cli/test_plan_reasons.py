"""Why pods have no place and why machines are of their type: in the table, in JSON, and live."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main
from tests.planning.driver import Planner
from tests.reconciler.build import node_class, pool, waiting

if TYPE_CHECKING:
    from pathlib import Path

CLASS: dict[str, Any] = {
    "types": [
        {
            "name": "small",
            "resources": {"cpu": "2", "memory": "4Gi", "pods": "110"},
            "offers": [
                {"location": "here", "price": "0.0100"},
                {"location": "there", "price": "0.0110"},
            ],
        },
        {
            "name": "large",
            "resources": {"cpu": "8", "memory": "16Gi", "pods": "110"},
            "offers": [{"location": "here", "price": "0.0500"}],
        },
    ]
}
MANY = [{"name": "small", "max": 9}]


def of_group(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "growth.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def pod(number: int, spec: dict[str, Any]) -> dict[str, Any]:
    requests = {"requests": spec.pop("requests", {"cpu": "1500m"})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number}"},
        "spec": {"containers": [{"name": "main", "resources": requests}]} | spec,
    }


NEAR = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": {"matchLabels": {"app": "anchor"}},
}
REASONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {},
        {"requests": {"cpu": "4"}},
        (
            'needs 4 of cpu; the largest offer of pool "default" leaves 2 (small in here). '
            "Allow large in the pool (0.0500 per hour), or lower the request"
        ),
    ),
    (
        {
            "serverTypes": [{"name": "small", "max": 9}, {"name": "large", "max": 9}],
            "locations": [{"region": "there"}],
        },
        {"requests": {"cpu": "4"}},
        (
            'needs 4 of cpu; the largest offer of pool "default" leaves 2 (small in there). '
            "Allow large in here in the pool (0.0500 per hour), or lower the request"
        ),
    ),
    (
        {},
        {"requests": {"cpu": "4"}, "nodeSelector": {"topology.kubernetes.io/zone": "there"}},
        (
            'needs 4 of cpu; the largest offer of pool "default" leaves 2 (small in there). '
            "Nothing that its node class sells has that much for it: lower the request"
        ),
    ),
    (
        {},
        {"requests": {"memory": "96Gi"}},
        (
            'needs 96Gi of memory; the largest offer of pool "default" leaves 4Gi (small in here). '
            "Nothing that its node class sells has that much for it: lower the request"
        ),
    ),
    (
        {},
        {"requests": {"nvidia.com/gpu": "1"}},
        (
            'needs 1 of nvidia.com/gpu, which no offer of pool "default" has. '
            "Nothing that its node class sells has that much for it: lower the request"
        ),
    ),
    (
        {},
        {"nodeSelector": {"kubernetes.io/arch": "arm64"}},
        (
            "its node selector requires kubernetes.io/arch=arm64, but no offer of pool "
            '"default" has it (they have amd64)'
        ),
    ),
    (
        {},
        {"nodeSelector": {"disk": "fast"}},
        (
            'its node selector requires disk=fast, but no offer of pool "default" has it '
            "(none has that label)"
        ),
    ),
    (
        {"serverTypes": [{"name": "small", "max": 9}, {"name": "large", "max": 9}]},
        {
            "nodeSelector": {
                "node.kubernetes.io/instance-type": "large",
                "topology.kubernetes.io/zone": "there",
            }
        },
        (
            "it requires a node with node.kubernetes.io/instance-type=large, "
            'topology.kubernetes.io/zone=there, but no offer of pool "default" matches'
        ),
    ),
    (
        {},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "disk", "operator": "In", "values": ["fast"]}
                                ]
                            }
                        ]
                    }
                }
            }
        },
        'it requires a node with disk=fast, but no offer of pool "default" matches',
    ),
    (
        {"taints": [{"key": "team", "value": "shop", "effect": "NoSchedule"}]},
        {},
        'it doesn\'t tolerate team=shop:NoSchedule, which nodes of pool "default" have',
    ),
    (
        {},
        {"nodeSelector": {"growth.dev/pool": "other"}},
        'there is no pool "other" that the pod may use: create it, or correct growth.dev/pool',
    ),
    (
        {"serverTypes": [{"name": "small", "max": 1}]},
        {},
        (
            'max of small of pool "default" is reached: raise it, or wait until a node of the pool '
            "is removed"
        ),
    ),
    (
        {"serverTypes": [{"name": "small", "max": 1}, {"name": "large", "max": 0}]},
        {},
        (
            "limits rule out every node that fits: pool default: max of large; pool default: max "
            "of small"
        ),
    ),
    (
        {},
        {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]}}},
        (
            "its pod affinity requires the same kubernetes.io/hostname as pods with app=anchor, "
            'which no offer of pool "default" can have'
        ),
    ),
    (
        {"limits": {"cpu": "3"}},
        {},
        (
            'limits.cpu of pool "default" leaves 1, but the smallest node that fits counts 2: '
            "raise it"
        ),
    ),
    (
        {"limits": {"memory": "7Gi"}},
        {},
        (
            'limits.memory of pool "default" leaves 3Gi, but the smallest node that fits '
            "counts 4Gi: raise it"
        ),
    ),
    (
        {"limits": {"hourlyCost": "0.0150"}},
        {},
        (
            'limits.hourlyCost of pool "default" leaves 0.0050, but the smallest node that '
            "fits counts 0.0100: raise it"
        ),
    ),
    (
        {"limits": {"nodes": 1}},
        {},
        (
            'limits.nodes of pool "default" is reached: raise it, or wait until a node of the pool '
            "is removed"
        ),
    ),
]
"""What a pool is like, what two like pods ask for, and what the one is told that has no place."""


@pytest.mark.parametrize(("of_pool", "of_pod", "reason"), REASONS)
def test_a_pod_without_a_place_is_told_what_stands_in_its_way_and_what_would_help(
    of_pool: dict[str, Any],
    of_pod: dict[str, Any],
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    documents = [
        of_group("KwokNodeClass", "default", CLASS),
        of_group("NodePool", "default", {"serverTypes": MANY} | of_pool),
        *(pod(number, dict(of_pod)) for number in range(2)),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file), "-o", "json"]) == 1
    plan = json.loads(capsys.readouterr().out)
    assert {each["reason"] for each in plan["unplaced"]} == {reason}
    assert main(["plan", "-f", str(file)]) == 1
    assert " ".join(reason.split()) in " ".join(capsys.readouterr().out.split())


def test_a_pod_for_which_the_provider_has_no_more_is_told_what_would_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    offers = [{"location": "here", "price": "0.0100", "available": 1}]
    rare = {**CLASS["types"][0], "offers": offers}
    documents = [
        of_group("KwokNodeClass", "default", {"types": [rare]}),
        of_group("NodePool", "default", {"serverTypes": MANY}),
        *(pod(number, {}) for number in range(2)),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file), "-o", "json"]) == 1
    (unplaced,) = json.loads(capsys.readouterr().out)["unplaced"]
    assert unplaced["reason"] == "only small in here fits, and the provider has no more of it"


def test_a_pod_that_only_a_full_node_would_take_is_told_what_keeps_it_from_a_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taint = {"key": "team", "value": "shop", "effect": "NoSchedule"}
    room = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    ready = [{"type": "Ready", "status": "True"}]
    documents = [
        of_group("KwokNodeClass", "default", CLASS),
        of_group("NodePool", "default", {"serverTypes": MANY, "taints": [taint]}),
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "theirs"},
            "status": {"capacity": room, "allocatable": room, "conditions": ready},
        },
        *(pod(number, {}) for number in range(2)),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file), "-o", "json"]) == 1
    (unplaced,) = json.loads(capsys.readouterr().out)["unplaced"]
    assert unplaced["reason"] == (
        'it doesn\'t tolerate team=shop:NoSchedule, which nodes of pool "default" have'
    )


def test_of_many_limits_that_keep_a_pod_out_some_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    types = [{**CLASS["types"][0], "name": f"type-{number}"} for number in range(8)]
    none = [{"name": each["name"], "max": 0} for each in types]
    documents = [
        of_group("KwokNodeClass", "default", {"types": types}),
        of_group("NodePool", "default", {"serverTypes": none}),
        pod(0, {}),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file), "-o", "json"]) == 1
    (unplaced,) = json.loads(capsys.readouterr().out)["unplaced"]
    assert unplaced["reason"].count("max of type-") == 5
    assert unplaced["reason"].endswith(" and 3 more")


def test_of_too_many_reasons_people_are_told_some_and_programs_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = [
        of_group("KwokNodeClass", "default", CLASS),
        of_group("NodePool", "default", {"serverTypes": MANY}),
        *(pod(number, {"requests": {"cpu": str(10 + number)}}) for number in range(25)),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file)]) == 1
    told = capsys.readouterr().out
    assert told.count("default/pod-") == 20
    assert "and 5 other reasons: use -o json to see all" in told
    assert main(["plan", "-f", str(file), "-o", "json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["unplaced"]) == 25


def test_two_offers_of_one_type_in_one_place_are_two_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    offers = [
        {"location": "here", "price": price, "labels": {"capacity": capacity}}
        for capacity, price in (("spot", "0.0040"), ("on-demand", "0.0100"))
    ]
    small = {**CLASS["types"][0], "offers": offers}
    documents = [
        of_group("KwokNodeClass", "default", {"types": [small]}),
        of_group("NodePool", "default", {"serverTypes": MANY}),
        *(
            pod(number, {"nodeSelector": {"capacity": capacity}})
            for number, capacity in enumerate(("spot", "on-demand"))
        ),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file)]) == 0
    _, spot, on_demand, *_ = capsys.readouterr().out.splitlines()
    assert (spot.split()[-1], on_demand.split()[-1]) == ("0.0040", "0.0100")


def test_the_same_is_told_by_an_event_on_the_pod() -> None:
    only = pool(serverTypes=[{"name": "small", "max": 9}])
    planner = Planner(waiting("huge", requests={"cpu": "4"}), only, node_class())
    planner.soon()
    ((name, _, note),) = planner.events
    assert name == "huge"
    assert note == (
        'needs 4 of cpu; the largest offer of pool "default" leaves 2 (small in here). '
        "Allow large in the pool (3.0000 per hour), or lower the request"
    )


def test_each_machine_has_the_reason_for_its_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [*MANY, {"name": "large", "max": 9}]
    documents = [
        of_group("KwokNodeClass", "default", CLASS),
        of_group("NodePool", "default", {"serverTypes": both}),
        pod(0, {}),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file), "-o", "json"]) == 0
    (node,) = json.loads(capsys.readouterr().out)["nodes"]
    assert node["nextBest"] == {"type": "large", "price": 0.05}
    assert main(["plan", "-f", str(file)]) == 0
    told = capsys.readouterr().out
    assert "small in here for default: next best large at 0.0500 (+400 %)" in told
    assert main(["plan", "-f", str(file), "-o", "requests"]) == 0
    (request,) = yaml.safe_load_all(capsys.readouterr().out)
    why = request["metadata"]["annotations"]["growth.dev/plan"]
    assert json.loads(why)["next"] == {"type": "large", "price": "0.050000"}
    assert len(why) < 1024


def test_a_machine_that_the_pool_keeps_without_load_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = [{"name": "small", "max": 9, "min": 1}]
    documents = [
        of_group("KwokNodeClass", "default", CLASS),
        of_group("NodePool", "default", {"serverTypes": kept}),
    ]
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    assert main(["plan", "-f", str(file)]) == 0
    assert "required by the pool's min" in capsys.readouterr().out


def test_the_annotation_is_short_whatever_the_offer_is_called() -> None:
    labels = {f"label-{number}": "v" * 63 for number in range(20)}
    offers = [{"location": "here", "price": "1", "labels": labels}]
    resources = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    only = node_class(types=[{"name": "small", "resources": resources, "offers": offers}])
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    (made,) = Planner(waiting("one", requests={"cpu": "1"}), small, only).soon()
    assert len(made.metadata.annotations["growth.dev/plan"]) < 1024
