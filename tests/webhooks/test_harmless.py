"""Whatever becomes of the webhook, pods come in, and those who create them hardly notice."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from tests.live import wait_until
from tests.service.authority import Authority
from tests.webhooks.admitting import BY_NOBODY, FREE
from tests.webhooks.strangers import registered, registered_everywhere, stranger
from webhooks.registration.webhook import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.service.authority import Pair
    from tests.webhooks.admitting import Admitting

pytestmark = pytest.mark.cluster

Document = dict[str, Any]
POD: Document = {
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "main", "image": "none"}], "nodeSelector": {"disk": "ssd"}},
}
PATIENCE = 30.0
"""Seconds, on a machine that does much else; the promise is the timeout of the registration."""


def spec_of(setting: Admitting, *, namespace: str) -> Document:
    answer = setting.api.create_pod(POD, namespace=namespace, query="?dryRun=All")
    spec: Document = answer.body["spec"]
    # Its name is drawn by lot.
    return {**spec, "volumes": [], "containers": [{**spec["containers"][0], "volumeMounts": []}]}


def admitted_unchanged(setting: Admitting, *, namespace: str) -> float:
    """Seconds until a pod came in as if there were no webhook."""
    began = time.monotonic()
    spec = spec_of(setting, namespace=namespace)
    taken = time.monotonic() - began
    assert spec == spec_of(setting, namespace=BY_NOBODY)
    return taken


async def _invalid_json(_: web.BaseRequest) -> web.Response:
    return web.Response(body=b'{"response": {', content_type="application/json")


async def _a_page(_: web.BaseRequest) -> web.Response:
    return web.Response(text="<html>It works!</html>", content_type="text/html")


async def _nothing(_: web.BaseRequest) -> web.Response:
    return web.Response()


async def _an_error(_: web.BaseRequest) -> web.Response:
    return web.Response(status=500, text="boom")


async def _bytes(_: web.BaseRequest) -> web.Response:
    return web.Response(body=os.urandom(100_000))


async def _half_an_answer(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b"{")
    if request.transport is not None:
        request.transport.abort()
    return response


def _review(**response: Any) -> Any:
    async def answer(_: web.BaseRequest) -> web.Response:
        kind = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return web.json_response({**kind, "response": response})

    return answer


RUBBISH = {
    "broken JSON": _invalid_json,
    "a page": _a_page,
    "nothing": _nothing,
    "an error": _an_error,
    "bytes": _bytes,
    "half an answer": _half_an_answer,
    "the answer to another review": _review(uid="another", allowed=False),
    "no verdict": _review(),
}


@pytest.mark.parametrize("answer", RUBBISH.values(), ids=RUBBISH.keys())
def test_rubbish_keeps_no_pod_out(answer: Any, admitting: Admitting, tmp_path: Path) -> None:
    asked = []

    async def counted(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        asked.append(request)
        response: web.StreamResponse = await answer(request)
        return response

    with (
        stranger(admitting, tmp_path, counted) as url,
        registered(admitting, "rubbish", url, namespace=FREE),
    ):
        wait_until(
            lambda: bool(admitted_unchanged(admitting, namespace=FREE)) and asked, "it is asked"
        )


def test_a_webhook_that_is_slow_or_hung_or_deaf_costs_its_timeout_at_most(
    admitting: Admitting, tmp_path: Path
) -> None:
    asked = []

    async def slow(request: web.BaseRequest) -> web.Response:
        asked.append(request)
        await asyncio.sleep(PATIENCE * 2)
        return web.Response()

    with (
        stranger(admitting, tmp_path, slow) as url,
        registered(admitting, "slow", url, namespace=FREE),
    ):
        taken = admitted_unchanged(admitting, namespace=FREE)
        while not asked:
            taken = admitted_unchanged(admitting, namespace=FREE)
    assert TIMEOUT * 0.9 < taken < PATIENCE

    with (
        socket.create_server(("127.0.0.1", 0)) as deaf,
        registered(
            admitting, "deaf", f"https://127.0.0.1:{deaf.getsockname()[1]}/", namespace=FREE
        ),
    ):
        assert TIMEOUT * 0.9 < admitted_unchanged(admitting, namespace=FREE) < PATIENCE


def test_a_webhook_that_is_gone_costs_nothing(admitting: Admitting) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"https://127.0.0.1:{gone.getsockname()[1]}/"
    with registered(admitting, "gone", url, namespace=FREE):
        for _ in range(20):
            assert admitted_unchanged(admitting, namespace=FREE) < PATIENCE


def test_our_process_stopped_in_the_middle_holds_nobody_up(admitting: Admitting) -> None:
    admitting.pools("prefer")
    assert admitting.webhook is not None

    def is_admitted() -> bool:
        return "affinity" in spec_of(admitting, namespace=FREE)

    with registered(admitting, "ours", admitting.webhook.url, namespace=FREE):
        wait_until(is_admitted, "it works")
        with stopped(admitting.webhook.pid), ThreadPoolExecutor(8) as clients:
            pods = [clients.submit(admitted_unchanged, admitting, namespace=FREE) for _ in range(8)]
            assert max(pod.result() for pod in pods) < PATIENCE
        wait_until(is_admitted, "it works again")


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(lambda _: Authority("somebody else").leaf(), id="somebody else's"),
        pytest.param(lambda ours: ours.leaf(end=-HOUR), id="expired"),
        pytest.param(lambda ours: ours.leaf(begin=HOUR), id="not yet valid"),
        pytest.param(lambda ours: ours.client(), id="for a client"),
    ],
)
def test_a_certificate_that_is_wrong_is_not_believed_and_keeps_no_pod_out(
    shown: Callable[[Authority], Pair], admitting: Admitting, tmp_path: Path
) -> None:
    asked = []

    async def never(request: web.BaseRequest) -> web.Response:
        asked.append(request)
        return web.Response()

    with (
        stranger(admitting, tmp_path, never, shown=shown(admitting.authority)) as url,
        registered(admitting, "wrong", url, namespace=FREE),
    ):
        for _ in range(5):
            assert admitted_unchanged(admitting, namespace=FREE) < PATIENCE
    assert not asked


def test_pods_that_are_none_of_our_business_are_never_sent(
    admitting: Admitting, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def note(request: web.BaseRequest) -> web.Response:
        asked.append((await request.json())["request"]["name"])
        return web.Response(status=500)

    with (
        stranger(admitting, tmp_path, note) as url,
        registered_everywhere(admitting, "everywhere", url),
    ):
        wait_until(lambda: created_as("first", admitting, FREE) and "first" in asked, "it is asked")
        asked.clear()
        admitting.api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "growth-system"}})
        for namespace in ("kube-system", "growth-system", BY_NOBODY):
            created_as("in-a-namespace-apart", admitting, namespace)
        for kind in ("DaemonSet", "Node"):
            created_as("owned", admitting, FREE, metadata={"ownerReferences": [owner(kind)]})
        created_as("opted-out", admitting, FREE, metadata={"labels": DISABLED})
        created_as("mirror", admitting, FREE, metadata={"annotations": MIRROR}, nodeName="n1")
        created_as("bound", admitting, FREE, nodeName="n1")
        change_a_pod(admitting)
        created_as("last", admitting, FREE)
    assert asked == ["changing", "last"]


DISABLED = {"growth.dev/admission": "disabled"}
MIRROR = {"kubernetes.io/config.mirror": "1"}


def owner(kind: str) -> Document:
    version = "v1" if kind == "Node" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "name": "x", "uid": "x", "controller": True}


def created_as(
    name: str, setting: Admitting, namespace: str, *, metadata: Document | None = None, **spec: Any
) -> Document:
    pod = {
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": [{"name": "main", "image": "none"}], **spec},
    }
    answer = setting.api.ask(
        "POST",
        f"/api/v1/namespaces/{namespace}/pods?dryRun=All",
        {"apiVersion": "v1", "kind": "Pod", **pod},
    )
    # The service account of a namespace may still be on its way; admission comes before it or not.
    assert answer.status in {201, 403}, answer.body
    return pod


def change_a_pod(setting: Admitting) -> None:
    """Its creation is our business, what becomes of it isn't."""
    place = f"/api/v1/namespaces/{FREE}/pods"
    setting.api.create_pod({**POD, "metadata": {"name": "changing"}}, namespace=FREE)
    setting.api.do("PATCH", f"{place}/changing", {"metadata": {"labels": {"a": "b"}}})
    condition = {"type": "example.org/Seen", "status": "True"}
    setting.api.do("PATCH", f"{place}/changing/status", {"status": {"conditions": [condition]}})
    setting.api.do("DELETE", f"{place}/changing?gracePeriodSeconds=0")
