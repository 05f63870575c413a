"""Other webhooks beside ours, good and bad ones, each served by a thread of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
import threading
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from tests.webhooks.api import ADMISSION, only_in
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from tests.service.authority import Pair
    from tests.webhooks.admitting import Admitting

    Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

Document = dict[str, Any]
CONFIGURATIONS: Final = f"{ADMISSION}/mutatingwebhookconfigurations"


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
def registered(setting: Admitting, name: str, url: str, *, namespace: str) -> Iterator[None]:
    """A configuration like ours for another server, in one namespace, while the block lasts."""
    selector = only_in((namespace,), {"matchExpressions": []})
    with registered_where(setting, name, url, namespaces=selector):
        yield


@contextlib.contextmanager
def registered_everywhere(setting: Admitting, name: str, url: str) -> Iterator[None]:
    """The same where ours would be in force."""
    [ours] = configuration()["webhooks"]
    with registered_where(setting, name, url, namespaces=ours["namespaceSelector"]):
        yield


@contextlib.contextmanager
def registered_where(
    setting: Admitting, name: str, url: str, *, namespaces: Document
) -> Iterator[None]:
    """The same in some namespaces."""
    [ours] = configuration()["webhooks"]
    authority = base64.b64encode(setting.authority.certificate).decode()
    webhook = {
        **ours,
        "name": f"{name}.example.org",
        "clientConfig": {"url": url, "caBundle": authority},
        "namespaceSelector": namespaces,
    }
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }
    setting.api.do("POST", CONFIGURATIONS, document)
    try:
        yield
    finally:
        setting.api.do("DELETE", f"{CONFIGURATIONS}/{name}")


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
