"""Other webhooks beside ours, good and bad ones, each served by a thread of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import json
import ssl
import threading
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from tests.cluster_wide import acting
from tests.webhooks.admitting import MARKED
from tests.webhooks.api import only_in
from webhooks.registration.webhook import TIMEOUT, configuration

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from tests.service.authority import Pair
    from tests.webhooks.admitting import Admitting

    Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

Document = dict[str, Any]
PATIENT: Final = 30
"""Seconds that a busy machine may need for an answer; the shipped timeout is for those who hang."""
_NOWHERE: Final = "https://127.0.0.1:1/"


@contextlib.contextmanager
def stranger(
    setting: Admitting, folder: Path, answer: Answer, *, shown: Pair | None = None
) -> Iterator[str]:
    """A server whose certificate the API server trusts, unless it shows another; its address."""
    (shown or setting.authority.leaf("stranger")).write_to(folder)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    began, place = threading.Event(), _Place()
    thread = threading.Thread(target=asyncio.run, args=(_serve(answer, tls, place, began),))
    thread.start()
    assert began.wait(20)
    try:
        yield f"https://127.0.0.1:{place.port}/"
    finally:
        place.loop.call_soon_threadsafe(place.over.set)
        thread.join()


class _Place:
    """Where a server listens, and how it is told to end."""

    port: int
    loop: asyncio.AbstractEventLoop
    over: asyncio.Event


async def _serve(
    answer: Answer, tls: ssl.SSLContext, place: _Place, began: threading.Event
) -> None:
    server = web.Server(answer, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    place.port = runner.addresses[0][1]
    place.loop, place.over = asyncio.get_running_loop(), asyncio.Event()
    began.set()
    await place.over.wait()
    # A TLS connection that is closed politely waits for the other side, who may be gone.
    for connection in server.connections:
        if connection.transport is not None:
            connection.transport.abort()
    await runner.cleanup()


@contextlib.contextmanager
def registered(
    setting: Admitting, name: str, url: str, *, namespace: str, within: int = TIMEOUT
) -> Iterator[None]:
    """A configuration like ours for another server, in force in one namespace during the block."""
    selector = only_in((namespace,), {"matchExpressions": []})
    with _registered_where(setting, name, url, namespaces=selector, within=within):
        yield


@contextlib.contextmanager
def registered_everywhere(setting: Admitting, name: str, url: str) -> Iterator[None]:
    """The same where ours would be in force."""
    [ours] = configuration()["webhooks"]
    selector = ours["namespaceSelector"]
    with _registered_where(setting, name, url, namespaces=selector, within=PATIENT):
        yield


@contextlib.contextmanager
def _registered_where(
    setting: Admitting, name: str, url: str, *, namespaces: Document, within: int
) -> Iterator[None]:
    """The same in some namespaces."""
    [ours] = configuration()["webhooks"]
    authority = base64.b64encode(setting.authority.certificate).decode()
    webhook = {
        **ours,
        "name": f"{name}.example.org",
        "clientConfig": {"url": url, "caBundle": authority},
        "namespaceSelector": namespaces,
        "timeoutSeconds": within,
    }
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook, _marker(name)],
    }
    with acting(setting.cluster, document, acts=lambda: _refuses(setting, name)):
        yield


def _marker(name: str) -> Document:
    """A second webhook of a configuration: nothing serves it, so while it acts pods stay out."""
    [ours] = configuration()["webhooks"]
    return {
        **ours,
        "name": _marker_name(name),
        "clientConfig": {"url": _NOWHERE},
        "failurePolicy": "Fail",
        "namespaceSelector": only_in((MARKED,), {"matchExpressions": []}),
    }


def _marker_name(name: str) -> str:
    return f"marker-of-{name}.example.org"


def _refuses(setting: Admitting, name: str) -> bool:
    """Whether the marker keeps a pod out, without a word to the server that is registered."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "marked"},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    answer = setting.api.ask("POST", f"/api/v1/namespaces/{MARKED}/pods?dryRun=All", pod)
    is_refused = answer.status != http.client.CREATED
    assert not is_refused or _marker_name(name) in json.dumps(answer.body), answer.body
    return is_refused


def changing(patch: Callable[[Document], list[Document]]) -> Answer:
    """A webhook that changes pods by a JSON patch."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        review = json.loads(await request.read())
        operations = patch(review["request"]["object"])
        response = {"uid": review["request"]["uid"], "allowed": True}
        if operations:
            text = base64.b64encode(json.dumps(operations).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": text}
        return web.json_response(
            {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}
        )

    return answer
