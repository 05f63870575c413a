"""Replicas and sizes are applied: stories on a simulated server, with crashes and other writers."""

from __future__ import annotations

import itertools
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api.wellknown import HVPA_TAKEOVER_ANNOTATION
from growth.kube.cache.resource import Key
from sizing.core.world import SizingMode
from tests.sizing.server import PASS, SimulatedSizer, a_story, a_vpa, an_hpa, an_hvpa

if TYPE_CHECKING:
    from collections.abc import Iterable

SCALE: Final = "/namespaces/shop/deployments/api/scale"
APPLYING: Final = SizingMode.APPLY


def story_of(cpu: str, **words: Any) -> SimulatedSizer:
    """A workload whose VPA recommends so much for one pod."""
    found = a_story(mode=APPLYING, **words)
    found.server.put("hvpas", an_hvpa(hpa={"deploy": False}))
    found.server.put("verticalpodautoscalers", a_vpa(cpu))
    return found


def sizes(story: SimulatedSizer) -> list[str]:
    return [each["spec"]["containers"][0]["resources"]["requests"]["cpu"] for each in pods(story)]


def pods(story: SimulatedSizer) -> list[dict[str, Any]]:
    return story.server.pods


def changes(story: SimulatedSizer) -> list[str]:
    """What was written besides the status: the path's end."""
    paths = [path for _, path, _ in story.server.writes if not path.endswith("/status")]
    return [path for path in paths if not path.endswith("/status/refused")]


async def test_more_replicas_come_first_and_then_the_sizes() -> None:
    story = story_of("900m")
    await story.live(6)
    assert changes(story)[0] == SCALE
    assert sizes(story) == ["450m", "450m"]
    assert len(changes(story)) == 3


async def test_what_was_reached_is_told_and_nothing_more_is_written() -> None:
    story = story_of("900m")
    await story.live(8)
    told = story.server.status
    assert told["lastScaling"]["after"]["replicas"] == 2
    assert told["lastScaling"]["before"]["replicas"] == 1
    assert "reachedAt" in told["lastScaling"]
    assert "intent" not in told
    written = len(story.server.writes)
    await story.live(40)
    assert len(story.server.writes) == written


async def test_the_intent_is_written_before_the_first_change() -> None:
    story = story_of("900m")
    await story.live(1)
    first, second = story.server.writes[:2]
    assert first[2][1]["value"]["intent"]["replicas"] == 2
    assert second[1] == SCALE


async def test_with_fewer_replicas_the_sizes_come_first() -> None:
    story = story_of("60m", replicas=3, requests={"cpu": "300m"})
    await story.live(20)
    order = changes(story)
    assert order[-1] == SCALE
    assert all(path.endswith("/resize") for path in order[:-1])
    assert sizes(story) == ["180m"]


async def test_of_pods_that_shrink_one_goes_ahead_alone() -> None:
    story = story_of("800m", replicas=3, requests={"cpu": "1"})
    await story.live(1)
    assert sorted(sizes(story)) == ["1", "1", "800m"]
    await story.live(3)
    assert sizes(story) == ["800m"] * 3


async def test_a_pod_that_comes_in_the_size_of_its_template_gets_the_decided_one() -> None:
    story = story_of("900m")
    await story.live(8)
    del story.server.objects["pods"][Key("shop", pods(story)[0]["metadata"]["name"])]
    await story.live(4)
    assert sizes(story) == ["450m", "450m"]
    assert changes(story).count(SCALE) == 1


async def test_after_a_rollout_while_all_sources_are_blind_pods_get_the_decided_size() -> None:
    story = story_of("900m")
    await story.live(8)
    story.server.objects["pods"].clear()
    story.server.objects["verticalpodautoscalers"].clear()
    await story.live(8)
    assert sizes(story) == ["450m", "450m"]
    assert story.server.status["blocked"]["reason"] == "SourceUnavailable"


@pytest.mark.parametrize("seed", range(8))
async def test_a_crash_at_any_request_converges_to_the_same_end(seed: int) -> None:
    calm, dying = (story_of("900m") for _ in range(2))
    chance = random.Random(seed)
    dying.server.dies_at = lambda: chance.random() < 0.3
    for target in ("900m", "1200m", "100m"):
        for story in (calm, dying):
            story.server.put("verticalpodautoscalers", a_vpa(target))
        await calm.live(20)
        await dying.live(40)
    dying.server.dies_at = lambda: False
    await dying.live(20)
    assert sizes(dying) == sizes(calm)
    assert dying.server.status["current"] == calm.server.status["current"]
    assert "intent" not in dying.server.status


@pytest.mark.parametrize("place", range(8))
async def test_a_crash_before_or_after_one_request_changes_no_number_twice(place: int) -> None:
    story = story_of("900m")
    requests = itertools.count()
    story.server.dies_at = lambda: next(requests) == place
    await story.live(12)
    assert sizes(story) == ["450m", "450m"]
    assert changes(story).count(SCALE) <= 2
    assert {body["spec"]["replicas"] for body in bodies(story, SCALE)} == {2}


def bodies(story: SimulatedSizer, path: str) -> Iterable[Any]:
    return [body for _, where, body in story.server.writes if where == path]


async def test_an_owner_is_named_and_asked_once_in_ten_minutes() -> None:
    story = story_of("900m")
    story.server.owner = "argocd"
    await story.live(int(timedelta(hours=1) / PASS))
    assert 5 <= changes(story).count(SCALE) <= 6
    blocked = story.server.status["blocked"]
    assert blocked["reason"] == "OwnedByOther"
    assert f"{HVPA_TAKEOVER_ANNOTATION}=argocd" in blocked["message"]
    assert len(pods(story)) == 1
    assert sizes(story) == ["400m"]


async def test_a_refusal_survives_a_restart() -> None:
    story = story_of("900m")
    story.server.owner = "argocd"
    for _ in range(20):
        await story.live(1)
        story.restart()
    assert changes(story).count(SCALE) == 1


async def test_an_owner_is_taken_over_if_an_annotation_names_it() -> None:
    story = story_of("900m")
    story.server.owner = "argocd"
    await story.live(2)
    hand_over(story, "kubectl, argocd")
    await story.live(8)
    assert sizes(story) == ["450m", "450m"]
    assert "refused" not in story.server.status


async def test_another_owner_than_the_named_one_is_not_taken_over() -> None:
    story = story_of("900m")
    hand_over(story, "kubectl")
    story.server.owner = "argocd"
    await story.live(8)
    assert len(pods(story)) == 1


def hand_over(story: SimulatedSizer, managers: str) -> None:
    hvpa = story.server.get("hvpas")
    annotations = {"annotations": {HVPA_TAKEOVER_ANNOTATION: managers}}
    story.server.put("hvpas", hvpa | {"metadata": hvpa["metadata"] | annotations})


async def test_pods_that_somebody_else_has_resized_are_left_alone() -> None:
    story = story_of("300m", replicas=1)
    [pod] = pods(story)
    fields = [{"manager": "kubectl-edit", "subresource": "resize"}]
    story.server.put("pods", pod | {"metadata": pod["metadata"] | {"managedFields": fields}})
    story.server.put("hvpas", an_hvpa(hpa={"deploy": False}, scaleDown={"minChange": {}}))
    await story.live(8)
    assert changes(story) == []
    assert story.server.status["refused"]["by"] == ["kubectl-edit"]


async def test_a_size_for_which_the_node_is_too_small_is_told_and_nothing_is_evicted() -> None:
    story = story_of("450m", requests={"cpu": "200m"})
    story.server.largest_node = 400
    await story.live(8)
    assert story.server.status["blocked"]["reason"] == "ResizeInfeasible"
    assert sizes(story) == ["200m"]
    assert len(changes(story)) == 1


async def test_a_workload_that_a_person_scales_to_nothing_is_left_alone() -> None:
    story = story_of("900m")
    await story.live(1)
    deployment = story.server.get("deployments")
    story.server.put("deployments", deployment | {"spec": deployment["spec"] | {"replicas": 0}})
    await story.live(8)
    assert changes(story).count(SCALE) == 1
    assert story.server.status["blocked"]["reason"] == "ReplicasZero"


async def test_replicas_that_a_person_adds_make_no_pod_larger() -> None:
    story = story_of("450m", replicas=2, requests={"cpu": "450m"})
    await story.live(2)
    deployment = story.server.get("deployments")
    story.server.put("deployments", deployment | {"spec": deployment["spec"] | {"replicas": 5}})
    story.server.owner = "kubectl"
    await story.live(12)
    assert sizes(story) == ["450m"] * 5
    assert story.server.status["blocked"]["reason"] == "OwnedByOther"


async def test_a_changed_spec_ends_what_was_decided_by_the_one_before() -> None:
    story = story_of("900m")
    story.server.dies_at = lambda: False
    await story.live(1)
    hvpa = story.server.get("hvpas")
    off = {"updatePolicy": {"updateMode": "Off"}}
    spec = hvpa["spec"] | {"scaleUp": off, "scaleDown": off}
    metadata = hvpa["metadata"] | {"generation": 2}
    story.server.put("hvpas", hvpa | {"metadata": metadata, "spec": spec})
    before = changes(story)
    await story.live(8)
    assert changes(story) == before
    assert story.server.status["blocked"]["reason"] == "UpdatePolicy"


async def test_a_memory_limit_is_not_lowered_while_nothing_is_known_of_the_use() -> None:
    memory = {"cpu": "400m", "memory": "2Gi"}
    story = story_of("400m", requests=memory, limits={"memory": "2Gi"})
    vpa = a_vpa("400m")
    vpa["status"]["recommendation"]["containerRecommendations"][0]["target"]["memory"] = "1Gi"
    story.server.put("verticalpodautoscalers", vpa)
    await story.live(6)
    assert resources(story)["limits"] == {"memory": "2048Mi"}
    assert resources(story)["requests"]["memory"] == "1024Mi"
    [pod] = pods(story)
    story.used = {pod["metadata"]["name"]: {"cpu": "300m", "memory": "512Mi"}}
    vpa["status"]["recommendation"]["containerRecommendations"][0]["target"]["memory"] = "512Mi"
    story.server.put("verticalpodautoscalers", vpa)
    await story.live(6)
    assert resources(story)["requests"]["memory"] == "512Mi"
    limit = resources(story)["limits"]["memory"]
    assert limit == "1024Mi"


def resources(story: SimulatedSizer) -> dict[str, Any]:
    [pod] = pods(story)
    found: dict[str, Any] = pod["spec"]["containers"][0]["resources"]
    return found


async def test_an_hpa_that_still_tells_of_the_old_size_scales_nothing_twice() -> None:
    story = a_story(mode=APPLYING)
    # It measured 200 % of 400m, and goes on saying so for some time.
    story.server.put("horizontalpodautoscalers", an_hpa(used=200))
    await story.live(7)
    assert len(pods(story)) == 2
    reached = sizes(story)
    story.server.put("horizontalpodautoscalers", an_hpa(used=80))
    await story.live(20)
    assert sizes(story) == reached
