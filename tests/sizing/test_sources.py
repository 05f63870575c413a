"""What HPAs and VPAs say, as the API server has them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sizing.rule.amounts import Sized
from sizing.rule.evidence import reason_to_doubt
from sizing.rule.sources import hpa_reading, vpa_reading
from tests.sizing.build import HEAP, MAIN, cores, gibibytes

REQUESTS = {MAIN: cores(0.5), HEAP: gibibytes(1), Sized("proxy", "cpu"): cores(0.1)}
ABLE = {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale", "message": ""}
ACTIVE = {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound", "message": ""}
DISABLED = {"scaleUp": {"selectPolicy": "Disabled"}, "scaleDown": {"selectPolicy": "Disabled"}}


def utilization(percent: int) -> dict[str, Any]:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "current": {"averageUtilization": percent}},
    }


def target(percent: int) -> dict[str, Any]:
    figure = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": figure}}


def test_an_hpa_that_scales_speaks_of_replicas_and_so_of_every_request() -> None:
    hpa = {"spec": {"metrics": [target(80)]}, "status": {"desiredReplicas": 3}}
    found = hpa_reading(hpa, REQUESTS, 2)
    assert found.totals == {part: 3 * request for part, request in REQUESTS.items()}


def test_an_hpa_that_only_measures_speaks_of_what_it_measures_without_rounding() -> None:
    hpa = {
        "spec": {"metrics": [target(80)], "behavior": DISABLED},
        "status": {"desiredReplicas": 2, "currentMetrics": [utilization(90)]},
    }
    found = hpa_reading(hpa, REQUESTS, 2)
    assert found.totals[MAIN] == Fraction(1125)
    assert HEAP not in found.totals


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            {
                "desiredReplicas": 3,
                "conditions": [ABLE, ACTIVE | {"status": "False", "reason": "AmbiguousSelector"}],
            },
            "ScalingActive is False: AmbiguousSelector",
        ),
        ({"desiredReplicas": 0}, "decided nothing yet"),
        ({"desiredReplicas": "three"}, "can't be read"),
    ],
)
def test_an_hpa_in_trouble_is_not_believed(status: dict[str, Any], words: str) -> None:
    found = hpa_reading({"spec": {}, "status": status}, REQUESTS, 2)
    assert words in (found.doubt or "")
    assert found.totals == {}


def vpa(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "api"}, "status": status}


PROVIDED = [{"type": "RecommendationProvided", "status": "True"}]
RECOMMENDED = {
    "containerRecommendations": [
        {"containerName": "main", "target": {"cpu": "1038m", "memory": "1Gi", "gpu": "1"}}
    ]
}


def samples(count: object, of: str = "api") -> dict[str, Any]:
    return {"spec": {"vpaObjectName": of}, "status": {"totalSamplesCount": count}}


def test_a_vpa_speaks_of_each_container() -> None:
    found = vpa_reading(
        vpa(conditions=PROVIDED, recommendation=RECOMMENDED), [samples(9), samples(1, of="web")]
    )
    assert found.targets == {MAIN: 1038, HEAP: 1 << 30}
    assert reason_to_doubt(found.conditions, found.samples) is None


@pytest.mark.parametrize(
    ("status", "checkpoints", "words"),
    [
        ({}, [], "no recommendation yet"),
        ({"conditions": PROVIDED, "recommendation": RECOMMENDED}, [samples(0)], "0 of 8 samples"),
        ({"conditions": PROVIDED, "recommendation": [1]}, [], "no recommendation yet"),
    ],
)
def test_a_vpa_in_trouble_is_not_believed(
    status: dict[str, Any], checkpoints: list[dict[str, Any]], words: str
) -> None:
    found = vpa_reading(vpa(**status), checkpoints)
    assert words in (reason_to_doubt(found.conditions, found.samples) or "")
