"""Pods are moved away through the eviction API, and each answer of it is understood."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.kube.cache.resource import key_of
from growth.kube.call import Call
from growth.kube.errors import ApiError, Details, Status, StatusCause, error_of
from growth.scheduling.objects import decode_pod
from reconciler.core.actions import Evict, Evicted
from tests.reconciler.build import at
from tests.reconciler.test_effects import NAME, NODES, Stage, given_back, order, outcome, staged

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.looptime

PODS = "/api/v1/namespaces/shop/pods"
WEB = Evict(namespace="shop", name="web-0", uid="uid-web-0")
ASKED = "POST eviction"


def running(name: str = "web-0", *, on: str = NAME, **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"} | metadata,
        "spec": {"nodeName": on, "containers": []},
        "status": {"phase": "Running"},
    }


def placed(stage: Stage, *names: str) -> None:
    """Pods that the server has and the cache knows."""
    store = stage.sources.store("pods")
    for key in tuple(store.objects):
        store.drop(key)
    for name in names:
        made = decode_pod(json.dumps(stage.api.put(PODS, running(name))).encode())
        store.put(key_of(made), made)


def refused(code: int, *, cause: str = "", after: str = "", message: str = "no") -> ApiError:
    headers: Mapping[str, str] = {"Retry-After": after} if after else {}
    details = Details(causes=(StatusCause(cause),)) if cause else None
    said = Status(code=code, message=message, details=details)
    call = Call(method="POST", path=f"{PODS}/web-0/eviction", content_type="application/json")
    return error_of(call, code=code, said=said, headers=headers)


async def test_a_pod_that_is_evicted_is_gone_and_known_to_go() -> None:
    async with staged() as stage:
        placed(stage, "web-0")
        await stage.do(WEB)
        assert stage.effects.heard.replies.evictions == {WEB.uid: Evicted(pod=WEB, at=7.0)}
        assert f"{PODS}/web-0" not in stage.api.objects


@pytest.mark.parametrize("there", ["nothing", "another of its name"])
async def test_a_pod_that_has_gone_meanwhile_is_an_eviction_that_worked(there: str) -> None:
    async with staged() as stage:
        if there != "nothing":
            stage.api.put(PODS, running(uid="uid-of-another"))
        await stage.do(WEB)
        assert stage.effects.heard.evictions[WEB.uid].refused == ""
        assert (f"{PODS}/web-0" in stage.api.objects) is (there != "nothing")


@pytest.mark.parametrize(
    ("there", "asked"),
    [("it is on its way", 0), ("nothing", 1), ("another of its name", 1)],
)
async def test_a_list_is_asked_for_when_the_cache_was_never_told_of_an_end(
    there: str, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged() as stage:
        lists: list[str] = []
        monkeypatch.setattr(stage.sources, "relist", lists.append)
        placed(stage, "web-0")
        await stage.do(WEB)
        if there != "nothing":
            uid = WEB.uid if there == "it is on its way" else "uid-of-another"
            stage.api.put(PODS, running(uid=uid))
        assert lists == [], "an event takes its time"
        await stage.do(WEB)
        assert lists == ["pods"] * asked


REFUSALS = {
    "a budget": (refused(429, cause="DisruptionBudget"), 0.0),
    "a budget that is being counted": (refused(429, cause="DisruptionBudget", after="10"), 10.0),
    "several budgets": (refused(500), 0.0),
    "a namespace that ends": (refused(403, cause="NamespaceTerminating"), 0.0),
    "no right to do it": (refused(403), 0.0),
}


@pytest.mark.parametrize(("answer", "seconds"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_pod_stays_because_of(answer: ApiError, seconds: float) -> None:
    async with staged() as stage:
        placed(stage, "web-0")
        stage.api.refusals[ASKED] = [answer, answer]
        for times in (1, 2):
            await stage.do(WEB)
            assert stage.effects.heard.evictions[WEB.uid] == Evicted(
                pod=WEB, at=7.0, refused="no", seconds=seconds, times=times
            )
        await stage.do(WEB)
        assert stage.effects.heard.evictions[WEB.uid].times == 0, "it went in the end"


@pytest.mark.parametrize("answer", [refused(429, cause="DisruptionBudget"), refused(500)])
async def test_a_pod_whose_time_is_up_is_deleted_if_its_budgets_refuse(answer: ApiError) -> None:
    async with staged() as stage:
        placed(stage, "web-0")
        stage.api.refusals[ASKED] = [answer]
        await stage.do(msgspec.structs.replace(WEB, ends_within=20))
        assert f"{PODS}/web-0" not in stage.api.objects
        assert stage.effects.heard.evictions[WEB.uid].refused == ""


async def test_a_pod_whose_time_is_up_stays_if_nobody_may_delete_it() -> None:
    async with staged() as stage:
        placed(stage, "web-0")
        stage.api.refusals[ASKED] = [refused(429, cause="DisruptionBudget")]
        stage.api.refusals["DELETE pods"] = [refused(403, message="no right")]
        await stage.do(msgspec.structs.replace(WEB, ends_within=20))
        assert stage.effects.heard.evictions[WEB.uid].refused == "no right"


async def test_a_server_in_trouble_has_said_nothing_of_the_pod() -> None:
    async with staged() as stage:
        placed(stage, "web-0")
        stage.api.refusals[ASKED] = [refused(429), refused(503)]
        for _ in range(2):
            await stage.do(WEB)
            assert stage.effects.heard.evictions == {}


async def test_what_was_said_of_pods_that_are_gone_is_forgotten() -> None:
    async with staged() as stage:
        placed(stage, "web-0", "web-1")
        stage.api.refusals[ASKED] = [refused(429, cause="DisruptionBudget")]
        await stage.do(WEB)
        placed(stage, "web-1")
        await stage.do(Evict(namespace="shop", name="web-1", uid="uid-web-1"))
        assert set(stage.effects.heard.evictions) == {"uid-web-1"}


LATE, IN_TIME = "2025-12-31T23:59:00Z", "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("ends", "ready", "goes"),
    [
        pytest.param(LATE, "Unknown", True, id="nobody is left to say that it ended"),
        pytest.param(LATE, "True", False, id="the kubelet lives, and will say it"),
        pytest.param(IN_TIME, "Unknown", False, id="its grace was over a moment ago"),
        pytest.param(None, "Unknown", False, id="nobody has asked it to end"),
    ],
)
async def test_the_last_look_at_a_node_with_a_pod_that(
    ends: str | None,
    ready: str,
    goes: bool,  # noqa: FBT001 - a column of the table
) -> None:
    async with staged() as stage:
        await stage.do(order())
        node = stage.api.objects[f"{NODES}/{NAME}"]
        stage.api.put(
            NODES, node | {"status": {"conditions": [{"type": "Ready", "status": ready}]}}
        )
        stage.api.put(PODS, running(**({"deletionTimestamp": ends} if ends else {})))
        await stage.do(given_back())
        assert (f"{NODES}/{NAME}" not in stage.api.objects) is goes, outcome(stage)


def test_the_times_of_the_table_lie_around_this_moment() -> None:
    assert at(7).wall.isoformat() == "2026-01-01T00:00:07+00:00"
