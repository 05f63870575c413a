"""`growth plan` of what `helm template` prints: autoscalers, hooks, kinds that aren't known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable

POOL = str(Path(__file__).parents[2] / "docs" / "examples" / "kwok")
Document = dict[str, Any]
Answer = tuple[dict[str, Any], list[str]]


@pytest.fixture
def planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """The plan for these documents, for programs and for people."""

    def plan(*documents: Document, words: tuple[str, ...] = ()) -> Answer:
        path = tmp_path / "manifests.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        asked = ["plan", "--effort", "quick", "-f", POOL, str(path), *words]
        main([*asked, "-o", "json"])
        found = json.loads(capsys.readouterr().out)
        main(asked)
        told = capsys.readouterr().out
        assert max(map(len, told.splitlines())) <= 100
        # A long line goes on in the next one, which begins with two blanks.
        return found, told.replace("\n  ", " ").splitlines()

    return plan


def named(kind: str, name: str, *, hook: str = "", **fields: Any) -> Document:
    annotations = {"annotations": {"helm.sh/hook": hook}} if hook else {}
    metadata = {"name": name, "namespace": "shop"} | annotations
    return {"apiVersion": "any/v1", "kind": kind, "metadata": metadata} | fields


def workload(kind: str = "Deployment", name: str = "web", **words: Any) -> Document:
    hook = words.pop("hook", "")
    container = {"name": "main", "resources": {"requests": {"cpu": "100m"}}}
    template = {"spec": {"containers": [container]} | words.pop("pod", {})}
    return named(kind, name, hook=hook, spec={"template": template} | words)


def autoscaler(*, of: str = "web", kind: str = "Deployment", **spec: Any) -> Document:
    target = {"apiVersion": "apps/v1", "kind": kind, "name": of}
    return named(
        "HorizontalPodAutoscaler", of, spec={"scaleTargetRef": target, "maxReplicas": 7} | spec
    )


def pods_in(plan: dict[str, Any]) -> int:
    return sum(len(node["pods"]) for node in plan["nodes"])


@pytest.mark.parametrize(
    ("target", "scaled", "words", "pods"),
    [
        ({}, {"minReplicas": 3}, (), 3),
        ({"replicas": 5}, {"minReplicas": 3}, (), 3),
        ({}, {}, (), 1),
        ({}, {"minReplicas": 3}, ("--replicas", "max"), 7),
        ({"kind": "StatefulSet"}, {"kind": "StatefulSet", "minReplicas": 4}, (), 4),
        ({"replicas": 0}, {"minReplicas": 3}, (), 0),
        ({"replicas": 2}, {"of": "other", "minReplicas": 3}, (), 2),
        ({"replicas": 2}, {"kind": "StatefulSet", "minReplicas": 3}, (), 2),
    ],
)
def test_an_autoscaler_decides_how_many_replicas_are_planned(
    target: dict[str, Any],
    scaled: dict[str, Any],
    words: tuple[str, ...],
    pods: int,
    planned: Callable[..., Answer],
) -> None:
    plan, _ = planned(workload(**target), autoscaler(**scaled), words=words)
    assert pods_in(plan) == pods


def test_what_an_autoscaler_has_decided_is_told(planned: Callable[..., Answer]) -> None:
    plan, lines = planned(workload(replicas=1), autoscaler(minReplicas=3))
    assert plan["autoscaled"] == [
        {"workload": "Deployment shop/web", "replicas": 3, "minimum": 3, "maximum": 7}
    ]
    assert (
        "Deployment shop/web is planned with 3 replicas; its autoscaler allows 3 to 7 "
        "replicas (--replicas)"
    ) in lines


LEFT_OUT: dict[str, tuple[Document, str]] = {
    "a test of Helm's": (
        named("Pod", "web-test", hook="test", spec={"containers": [{"name": "curl"}]}),
        "Pod shop/web-test (helm.sh/hook: test)",
    ),
    "a migration": (
        workload("Job", "migrate", hook="pre-install,pre-upgrade"),
        "Job shop/migrate (helm.sh/hook: pre-install,pre-upgrade)",
    ),
    "an autoscaler without its target": (
        autoscaler(of="db", kind="StatefulSet"),
        "HorizontalPodAutoscaler shop/db (its target, StatefulSet shop/db, isn't in the files)",
    ),
    "what sizes pods": (
        named("VerticalPodAutoscaler", "web", spec={"targetRef": {"name": "web"}}),
        (
            "VerticalPodAutoscaler shop/web "
            "(growth doesn't know how a VerticalPodAutoscaler changes its target)"
        ),
    ),
    "a kind that is not known": (
        workload("Rollout", "canary"),
        "Rollout shop/canary (growth doesn't know which pods a Rollout creates)",
    ),
    "another autoscaler": (
        named("ScaledObject", "queue", spec={"scaleTargetRef": {"name": "web"}}),
        "ScaledObject shop/queue (growth doesn't know how a ScaledObject changes its target)",
    ),
}


@pytest.mark.parametrize(("document", "said"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_is_not_planned_is_named_with_the_reason(
    document: Document, said: str, planned: Callable[..., Answer]
) -> None:
    plan, lines = planned(workload(replicas=2), document)
    assert pods_in(plan) == 2
    assert f"not planned: {said}" in lines
    assert [f"{each['object']} ({each['reason']})" for each in plan["leftOut"]] == [said]


def test_an_autoscaler_of_a_hook_says_that_its_target_is_one(
    planned: Callable[..., Answer],
) -> None:
    plan, _ = planned(workload(), workload(name="smoke", hook="test"), autoscaler(of="smoke"))
    assert [f"{each['object']} ({each['reason']})" for each in plan["leftOut"]] == [
        "Deployment shop/smoke (helm.sh/hook: test)",
        (
            "HorizontalPodAutoscaler shop/smoke "
            "(its target, Deployment shop/smoke, is a hook (helm.sh/hook: test))"
        ),
    ]


def test_of_what_makes_no_pods_nothing_is_said(planned: Callable[..., Answer]) -> None:
    others = (
        named("Service", "web", spec={"selector": {"app": "web"}}),
        named("ConfigMap", "scripts", hook="pre-install", data={"a": "b"}),
        workload("DaemonSet", "agent"),
        named("SecurityPolicy", "gateway", spec={"targetRef": {"kind": "HTTPRoute"}}),
    )
    plan, lines = planned(workload(), *others)
    assert (plan["leftOut"], plan["autoscaled"]) == ([], [])
    assert not any(line.startswith("not planned") for line in lines)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"minReplicas": 9}, "spec.minReplicas: 9 is above maxReplicas (7)"),
        ({"maxReplicas": "7"}, "spec.maxReplicas: remove the quotes: 7"),
        ({"maxReplicas": "many"}, 'spec.maxReplicas: must be of type integer: "string"'),
        ({"scaleTargetRef": None}, 'spec.scaleTargetRef: must be of type object: "null"'),
        ({"scaleTargetRef": {"kind": "Deployment"}}, "spec.scaleTargetRef.name: Required value"),
    ],
)
def test_a_mistake_in_an_autoscaler_is_one_line(
    spec: Document, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "manifests.yaml"
    path.write_text(yaml.safe_dump_all([workload(), autoscaler(**spec)]))
    assert main(["plan", "-f", POOL, str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert "manifests.yaml:" in line


# Machines with another processor than images may be made for

ON_ARM = {"resources": {"requests": {"cpu": "6"}}, "name": "main"}
EITHER = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"]}


@pytest.mark.parametrize(
    ("pod", "warned"),
    [
        ({}, ["Deployment shop/web"]),
        ({"nodeSelector": {"kubernetes.io/os": "linux"}}, ["Deployment shop/web"]),
        ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, []),
        (
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchExpressions": [EITHER]}]
                        }
                    }
                }
            },
            [],
        ),
    ],
)
def test_pods_that_get_arm_machines_without_saying_so_are_named(
    pod: Document, warned: list[str], planned: Callable[..., Answer]
) -> None:
    pod = {"containers": [ON_ARM]} | pod
    plan, lines = planned(workload(pod=pod))
    assert [node["serverType"] for node in plan["nodes"]] == ["cax31"]
    assert plan["anyArchitecture"] == warned
    assert any("would run on Arm" in line for line in lines) is bool(warned)
