"""A process that only observes: it says what it would do, and why not, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from growth.api.crd import definition
from growth.api.hvpa import Hvpa
from growth.api.problems import read_strictly
from tests.sizing.server import (
    DISABLED,
    INTERVALS,
    SimulatedSizer,
    a_checkpoint,
    a_deployment,
    a_story,
    a_vpa,
    an_hpa,
    an_hvpa,
)


async def observed(story: SimulatedSizer, passes: int = 1) -> dict[str, Any]:
    await story.live(passes)
    return story.server.status


async def test_the_status_says_what_would_be_done() -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    told = await observed(story)
    assert told["current"] == {
        "replicas": 1,
        "containers": [{"name": "api", "cpu": "400m"}],
    }
    assert told["desired"] == {
        "replicas": 2,
        "containers": [{"name": "api", "cpu": "450m"}],
    }
    assert told["decidedBy"] == {
        "source": "VPA",
        "container": "api",
        "resource": "cpu",
        "total": "900m",
    }
    assert told["blocked"]["reason"] == "Observing"
    assert told["selector"] == "app=api"
    assert told["intervals"][1] == {
        "replicas": 2,
        "cpuUpTo": "2",
        "cpuDownTo": "350m",
        "memoryUpTo": "8192Mi",
        "memoryDownTo": "1503238554",
    }


async def test_nothing_but_the_status_is_written_and_only_if_something_has_changed() -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    await observed(story, 20)
    assert [path for _, path, _ in story.server.writes] == [
        "alpha1/namespaces/shop/hvpas/api/status"
    ]
    story.server.put("verticalpodautoscalers", a_vpa("1"))
    await observed(story, 5)
    assert len(story.server.writes) == 2


async def test_what_is_observed_is_not_remembered_as_done() -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    told = await observed(story, 3)
    assert {"intent", "lastScaling"}.isdisjoint(told)


async def test_a_status_fits_its_definition() -> None:
    story = a_story(replicas=3)
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    story.server.put("horizontalpodautoscalers", an_hpa(used=120))
    await observed(story)
    assert isinstance(read_strictly(clean(story.server.get("hvpas"))), Hvpa)
    fields = definition(Hvpa)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert story.server.status.keys() <= fields["status"]["properties"].keys()


def clean(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "metadata": {"name": "api", "namespace": "shop"}}


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
         "TargetNotFound", "there is no Deployment web"),
        ({"targetRef": {"apiVersion": "v1", "kind": "Pod", "name": "api"}},
         "TargetNotFound", "there is no Pod api"),
        ({"hpa": {"deploy": False}, "vpa": {"deploy": False}}, "NoSource", "neither"),
        ({"scalingIntervals": [INTERVALS[1], INTERVALS[2] | {"maxResources": {"cpu": "100m"}}]},
         "IntervalsInvalid", "scalingIntervals[1]"),
        ({"scaleUp": {"updatePolicy": {"updateMode": "Off"}}}, "UpdatePolicy", "Off"),
    ],
)  # fmt: skip
async def test_what_keeps_an_hvpa_from_work_is_its_reason(
    spec: dict[str, Any], reason: str, words: str
) -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    story.server.put("hvpas", an_hvpa(**spec))
    told = await observed(story)
    assert told["blocked"]["reason"] == reason
    assert words in told["blocked"]["message"]


@pytest.mark.parametrize(
    ("reason", "is_stalled"), [("TargetNotFound", "True"), ("Observing", "False")]
)
async def test_conditions_follow_from_what_blocks(reason: str, is_stalled: str) -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    if reason == "TargetNotFound":
        story.server.objects["deployments"].clear()
    await story.loop.pass_once()
    conditions = {each["type"]: each for each in story.server.status["conditions"]}
    assert conditions["Stalled"]["status"] == is_stalled
    assert {each["reason"] for each in conditions.values()} == {reason}


async def test_a_workload_without_replicas_is_left_alone() -> None:
    story = a_story(replicas=0)
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    assert (await observed(story))["blocked"]["reason"] == "ReplicasZero"


@pytest.mark.parametrize(
    ("watcher", "words"),
    [
        (("horizontalpodautoscalers", an_hpa(behavior={}, used=200)), "HPA api changes"),
        (("verticalpodautoscalers", a_vpa("900m", mode="Recreate")), 'set updateMode: "Off"'),
    ],
)
async def test_who_else_changes_the_workload_is_named(
    watcher: tuple[str, dict[str, Any]], words: str
) -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    story.server.put(*watcher)
    blocked = (await observed(story))["blocked"]
    assert blocked["reason"] == "OwnedByOther"
    assert words in blocked["message"]


async def test_a_vpa_without_samples_is_not_believed() -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("25m"))
    story.server.put("verticalpodautoscalercheckpoints", a_checkpoint(3))
    told = await observed(story)
    [vpa] = [each for each in told["sources"] if each["name"] == "VPA"]
    assert (vpa["trusted"], vpa["reason"]) == (False, "the VPA has 3 of 8 samples")
    assert told["blocked"]["reason"] == "SourceUnavailable"
    assert told["desired"] == told["current"]


async def test_without_the_definition_of_vpas_an_hpa_is_enough() -> None:
    story = a_story()
    story.sources.no_vpas = "verticalpodautoscalers can't be read"
    story.server.put("horizontalpodautoscalers", an_hpa(used=200))
    told = await observed(story)
    assert [each["trusted"] for each in told["sources"]] == [True, False]
    assert told["desired"]["replicas"] == 2
    assert told["decidedBy"]["source"] == "HPA"


async def test_two_hpas_of_one_workload_are_both_doubted() -> None:
    story = a_story()
    story.server.put("horizontalpodautoscalers", an_hpa(used=200))
    second = an_hpa(used=200, behavior=DISABLED)
    second["metadata"] = {"name": "web", "namespace": "shop"}
    story.server.put("horizontalpodautoscalers", second)
    [hpa, _] = (await observed(story))["sources"]
    assert hpa["reason"] == "api, web are for the same workload"


async def test_an_hvpa_whose_status_is_on_its_way_is_not_decided_on() -> None:
    story = a_story()
    story.server.put("verticalpodautoscalers", a_vpa("900m"))
    story.sources.refresh()
    await story.loop.pass_once()
    written = len(story.server.writes)
    # The cache is behind, so the same would be written again.
    story.sources.refresh = lambda: None  # type: ignore[method-assign]
    story.server.put("verticalpodautoscalers", a_vpa("2"))
    await story.loop.pass_once()
    assert len(story.server.writes) == written


async def test_a_rollout_is_told_before_anything_else_would_be_done() -> None:
    story = a_story(replicas=2)
    story.server.put("verticalpodautoscalers", a_vpa("2"))
    rolling = a_deployment(2)
    rolling["status"]["updatedReplicas"] = 1
    story.server.put("deployments", rolling)
    await story.loop.pass_once()
    assert story.server.status["blocked"]["reason"] == "RolloutInProgress"
