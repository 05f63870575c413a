"""Hvpa: one table of specs, for the model and for its CEL rules."""

from __future__ import annotations

from typing import Any

import pytest

from growth.api.crd import OWNED_BY_THE_API_SERVER
from growth.api.hvpa import Hvpa
from growth.api.problems import DocumentProblem, read_strictly, written_path
from growth.api.schema import structural_schema
from tests.api.offline import refusals

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}
SMALL = {"maxReplicas": 1, "maxResources": {"cpu": "500m", "memory": "2Gi"}}
LARGE = {"maxReplicas": 3, "maxResources": {"cpu": 1, "memory": "4Gi"}}
NIGHT = {"begin": "220000+0100", "end": "040000+0100"}
AT_NIGHT = {"updatePolicy": {"updateMode": "MaintenanceWindow"}}
SCHEMA = structural_schema(Hvpa, given=OWNED_BY_THE_API_SERVER)

CASES: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "two intervals": ({}, None, ""),
    "an entry for several replicas": (
        {"scalingIntervals": [LARGE | {"effectiveIntervalExtrapolation": "linear"}]},
        None,
        "",
    ),
    "an interval that takes all from HPA and VPA": ({"scalingIntervals": [SMALL, {}]}, None, ""),
    "no intervals": ({"scalingIntervals": []}, "spec.scalingIntervals", "at least 1"),
    "replicas that fall": (
        {"scalingIntervals": [LARGE, SMALL]},
        "spec.scalingIntervals[1].maxReplicas",
        "maxReplicas must rise from interval to interval",
    ),
    "replicas twice": (
        {"scalingIntervals": [SMALL, LARGE, LARGE]},
        "spec.scalingIntervals[2].maxReplicas",
        "maxReplicas must rise from interval to interval",
    ),
    "a window for the night": (
        {"scaleDown": AT_NIGHT, "maintenanceTimeWindow": NIGHT},
        None,
        "",
    ),
    "no window for the night": (
        {"scaleDown": AT_NIGHT},
        "spec.maintenanceTimeWindow",
        "set maintenanceTimeWindow",
    ),
    "an hour that isn't one": (
        {"maintenanceTimeWindow": NIGHT | {"begin": "250000+0100"}},
        "spec.maintenanceTimeWindow.begin",
        "should match",
    ),
    "a resource that no pod can be resized in": (
        {"scalingIntervalsOverlap": {"gpu": {"value": 1}}},
        "spec.scalingIntervalsOverlap.gpu",
        "unknown field",
    ),
    "a misspelt percentage": (
        {"scalingIntervalsOverlap": {"cpu": {"percentate": 30}}},
        "spec.scalingIntervalsOverlap.cpu.percentate",
        "unknown field; did you mean percentage?",
    ),
}
every_case = pytest.mark.parametrize("name", CASES)


def document(name: str) -> dict[str, Any]:
    spec = {"targetRef": TARGET, "scalingIntervals": [SMALL, LARGE]} | CASES[name][0]
    return {
        "apiVersion": "growth.dev/v1alpha1",
        "kind": "Hvpa",
        "metadata": {"name": "api", "namespace": "shop"},
        "spec": spec,
    }


def problems(name: str) -> tuple[DocumentProblem, ...]:
    found = read_strictly(document(name))
    return found if isinstance(found, tuple) else ()


@every_case
def test_the_model_says_what_the_table_says(name: str) -> None:
    _, path, text = CASES[name]
    found = [(written_path(each.path), each.text) for each in problems(name)]
    assert [where for where, _ in found] == ([] if path is None else [path])
    assert all(text in said for _, said in found)


@pytest.mark.parametrize(
    "name",
    # The schema itself says the others, before any rule.
    [
        n
        for n, (_, _, text) in CASES.items()
        if not {"should", "unknown", "least"} & {*text.split()}
    ],
)
def test_cel_says_the_same(name: str) -> None:
    texts = {text for _, text in refusals(SCHEMA, document(name))}
    assert texts == {each.text for each in problems(name)}
