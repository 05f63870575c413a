from __future__ import annotations

import pytest

from tests.scheduling.build import ZONE, Json, container, mounting, pod

SELECTOR: Json = {"labelSelector": {"matchLabels": {"app": "web"}}}


def near(key: str) -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"podAffinity": {required: [{"topologyKey": key, **SELECTOR}]}}


DIFFERENT: list[Json] = [
    {},
    {"namespace": "bank"},
    {"labels": {"app": "web"}},
    {"requests": {"cpu": "1"}},
    {"overhead": {"cpu": "2"}},
    {"nodeSelector": {"disk": "ssd"}},
    {"tolerations": [{"key": "team", "operator": "Exists"}]},
    {"affinity": near(ZONE)},
    {"affinity": near("rack")},
    {"topologySpreadConstraints": [{"topologyKey": ZONE, **SELECTOR}]},
    {"containers": [container(ports=[{"containerPort": 80, "hostPort": 80}])]},
    mounting("data"),
    mounting("logs"),
    {"volumes": [{"name": "disk", "iscsi": {"iqn": "x"}}]},
    {"volumes": [{"name": "disk", "iscsi": {"iqn": "x", "readOnly": True}}]},
    {"volumes": [{"name": "scratch", "ephemeral": {}}]},
    {"priority": 7},
    {"schedulerName": "other"},
    {"resourceClaims": [{"name": "gpu"}]},
    {"schedulingGroup": {"podGroupName": "training"}},
]


def test_pods_that_differ_for_the_scheduler_have_different_shapes() -> None:
    shapes = {pod(**fields).shape for fields in DIFFERENT}
    assert len(shapes) == len(DIFFERENT)


@pytest.mark.parametrize(
    "fields",
    [
        {"on": "one"},
        {"labels": {"apps.kubernetes.io/pod-index": "3"}},
        {"metadata": {"annotations": {"note": "x"}}},
        {"status": {"phase": "Running"}},
        {"volumes": [{"name": "config", "configMap": {"name": "x"}}]},
        {"containers": [container("other-name", image="another")]},
        {"requests": {"cpu": "0"}},
    ],
)
def test_what_the_scheduler_does_not_look_at_makes_no_difference(fields: Json) -> None:
    assert pod("web-1", **fields).shape == pod("web-2").shape


def test_the_order_in_which_things_are_written_makes_no_difference() -> None:
    one = pod(
        labels={"app": "web", "tier": "1"},
        requests={"cpu": "1", "memory": "1Gi"},
        tolerations=[{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}],
    )
    other = pod(
        labels={"tier": "1", "app": "web"},
        requests={"memory": "1024Mi", "cpu": "1000m"},
        tolerations=[{"key": "b", "operator": "Exists"}, {"key": "a", "operator": "Exists"}],
    )
    assert one.shape == other.shape


def test_the_ephemeral_volumes_of_siblings_are_alike() -> None:
    scratch: Json = {"volumes": [{"name": "scratch", "ephemeral": {}}]}
    assert pod("web-1", **scratch).shape == pod("web-2", **scratch).shape


def test_a_shape_is_the_same_in_every_process() -> None:
    # Written into status by one process and read by the next: a change forgets what was learnt.
    made = pod(labels={"app": "web"}, requests={"cpu": "1"}, affinity=near(ZONE))
    assert made.shape == "92398adde446ef9b776a"
