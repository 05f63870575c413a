"""What is read of pods, workloads and their use."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.selectors import LabelSelector, Requirement, compiled_selector
from sizing.rule.applying import ResizeProgress
from sizing.seeing.objects import PodOfWorkload, ScaledWorkload
from sizing.seeing.picture import selector_text
from sizing.seeing.used import used_by_pods
from tests.sizing.build import HEAP, MAIN, NOW

OF_API = Metadata(name="api", uid="u")
SMALL = {"requests": {"cpu": "500m", "memory": "1Gi"}}
LARGE = {"requests": {"cpu": "1", "memory": "1Gi"}}


def pod(asked: Any = SMALL, given: Any = None, *conditions: str, **container: Any) -> PodOfWorkload:
    told = [each.partition("/") for each in conditions]
    status = {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "reason": reason} for kind, _, reason in told
        ],
        "containerStatuses": [{"name": "main", "resources": given, **container}],
    }
    spec = {"containers": [{"name": "main", "resources": asked}]}
    return msgspec.convert({"spec": spec, "status": status}, PodOfWorkload)


def test_amounts_of_a_pod_are_whole_numbers() -> None:
    assert pod().requests == {MAIN: 500, HEAP: 1 << 30}
    assert pod().limits == {}


@pytest.mark.parametrize(
    ("seen", "progress"),
    [
        (pod(SMALL, SMALL), ResizeProgress.DONE),
        (pod(SMALL, None), ResizeProgress.DONE),
        (pod(LARGE, SMALL), ResizeProgress.IN_PROGRESS),
        (pod(LARGE, SMALL, "PodResizeInProgress/"), ResizeProgress.IN_PROGRESS),
        (pod(LARGE, SMALL, "PodResizePending/Deferred"), ResizeProgress.DEFERRED),
        (pod(LARGE, SMALL, "PodResizePending/Infeasible"), ResizeProgress.INFEASIBLE),
    ],
)
def test_a_pod_says_what_has_become_of_its_resize(
    seen: PodOfWorkload, progress: ResizeProgress
) -> None:
    assert seen.progress is progress


def test_a_pod_can_be_resized_once_its_kubelet_says_what_it_has() -> None:
    assert pod(SMALL, SMALL).tells_its_size
    assert not pod(SMALL, None).tells_its_size


@pytest.mark.parametrize(("minutes", "counts"), [(-1, True), (1, False)])
def test_only_a_kill_after_the_last_change_counts(minutes: int, *, counts: bool) -> None:
    killed = {"terminated": {"reason": "OOMKilled", "finishedAt": NOW.isoformat()}}
    seen = pod(SMALL, SMALL, lastState=killed)
    assert seen.ran_out_after(NOW + timedelta(minutes=minutes)) is counts


@pytest.mark.parametrize(
    ("kind", "controller", "is_own"),
    [
        ("Deployment", {"kind": "ReplicaSet", "name": "api-5c79fc44b", "uid": "r"}, True),
        ("Deployment", {"kind": "ReplicaSet", "name": "api-v2-5c79fc44b", "uid": "r"}, False),
        ("Deployment", {"kind": "Job", "name": "api-5c79fc44b", "uid": "r"}, False),
        ("StatefulSet", {"kind": "StatefulSet", "name": "api", "uid": "u"}, True),
        ("StatefulSet", {"kind": "StatefulSet", "name": "api", "uid": "another"}, False),
        ("Deployment", None, False),
    ],
)
def test_only_pods_that_a_workload_has_created_are_its_own(
    kind: str, controller: dict[str, Any] | None, *, is_own: bool
) -> None:
    owners = [controller | {"controller": True}] if controller else []
    seen = msgspec.convert({"metadata": {"name": "p", "ownerReferences": owners}}, PodOfWorkload)
    assert seen.is_of(kind, OF_API) is is_own


def workload(spec: dict[str, Any], **status: Any) -> ScaledWorkload:
    document = {"metadata": {"generation": 2}, "spec": spec, "status": status}
    return msgspec.convert(document, ScaledWorkload)


@pytest.mark.parametrize(
    ("kind", "spec", "status", "is_rolling"),
    [
        ("Deployment", {}, {"observedGeneration": 1}, True),
        ("Deployment", {}, {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 2}, True),
        ("Deployment", {}, {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3}, False),
        ("StatefulSet", {}, {"observedGeneration": 2, "currentRevision": "a",
                             "updateRevision": "b"}, True),
        ("StatefulSet", {"updateStrategy": {"type": "OnDelete"}},
         {"observedGeneration": 2, "currentRevision": "a", "updateRevision": "b"}, False),
        ("ReplicaSet", {}, {"observedGeneration": 2}, False),
    ],
)  # fmt: skip
def test_a_rollout_is_noticed(
    kind: str, spec: dict[str, Any], status: dict[str, Any], *, is_rolling: bool
) -> None:
    assert workload(spec, **status).is_rolling_out(kind) is is_rolling


def test_a_selector_is_written_as_kubectl_takes_it() -> None:
    selector = LabelSelector(
        match_labels={"app": "api"},
        match_expressions=(
            Requirement("tier", "In", ("a", "b")),
            Requirement("old", "DoesNotExist"),
            Requirement("track", "NotIn", ("canary",)),
        ),
    )
    text = selector_text(compiled_selector(selector))
    assert text == "app=api,tier in (a,b),!old,track notin (canary)"


def figure(name: str = "api-1", *, age: float = 0, cpu: str = "100m") -> bytes:
    measured = {
        "metadata": {"name": name, "namespace": "shop"},
        "timestamp": (NOW - timedelta(minutes=age)).isoformat(),
        "containers": [{"name": "main", "usage": {"cpu": cpu, "memory": "1Gi"}}],
    }
    return json.dumps(measured).encode()


def test_use_that_is_old_or_no_number_is_not_taken() -> None:
    items = [
        figure("fresh"),
        figure("old", age=4),
        figure("future", age=-4),
        figure("strange", cpu="much"),
        figure("negative", cpu="-1"),
        b"{}",
    ]
    assert used_by_pods(items, NOW) == {Key("shop", "fresh"): {MAIN: 100, HEAP: 1 << 30}}
