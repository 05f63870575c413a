"""The API of one Lease on the loop's own, virtual clock, with what a network does to it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from growth.errors import DecideAgain
from growth.kube.errors import AlreadyExists, Conflict, NotFound
from growth.kube.transport import Connection, Response
from tests.election.lease_model import LeaseModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import aiohttp


class ModelConnection(Connection):
    """What a `Connection` to a real API server does, as far as one Lease goes."""

    def __init__(self, model: LeaseModel | None = None) -> None:
        self.model = model or LeaseModel()
        self.delay = 0.01
        self.answers = asyncio.Event()
        self.answers.set()
        self.deaf = False
        self.namespace_is_missing = False
        self.error: Exception | None = None
        self.requests: list[tuple[float, str]] = []

    @override
    async def request(self, method: str, path: str, **arguments: Any) -> Response:
        """Carried out in the middle of the delay, so that both ways take their time."""
        self.requests.append((asyncio.get_running_loop().time(), method))
        await self._on_the_way()
        answer = self._carried_out(method, path, arguments.get("body"))
        await self._on_the_way()
        return Response(status=200, headers={}, body=json.dumps(answer).encode())

    async def _on_the_way(self) -> None:
        await asyncio.sleep(self.delay / 2)
        while not self.answers.is_set():
            try:
                await self.answers.wait()
            except asyncio.CancelledError:
                if not self.deaf:
                    raise
        if self.error is not None:
            raise self.error

    def _carried_out(self, method: str, path: str, body: Any) -> Any:
        try:
            self._change(method, path, body)
        except DecideAgain as error:
            kind = AlreadyExists if method == "POST" else Conflict
            raise kind(str(error)) from error
        return self.model.stored

    def _change(self, method: str, path: str, body: Any) -> None:
        known: dict[str, Callable[[], object]] = {
            "POST": lambda: self.model.create(body),
            "PATCH": lambda: self.model.patch(body),
            "GET": lambda: None,
        }
        if self.namespace_is_missing or (method != "POST" and self.model.stored is None):
            raise NotFound(f"{method} {path}")
        known[method]()

    @override
    @asynccontextmanager
    async def stream(self, path: str, **arguments: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        changed = asyncio.Event()
        self.model.watchers.append(changed)
        try:
            yield cast("aiohttp.ClientResponse", _Answer(self, changed))
        finally:
            self.model.watchers.remove(changed)


class _Answer:
    def __init__(self, connection: ModelConnection, changed: asyncio.Event) -> None:
        self._connection = connection
        self._changed = changed

    @property
    async def content(self) -> AsyncIterator[bytes]:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(self._connection.delay)
            stored = self._connection.model.stored
            kind = "MODIFIED" if stored else "DELETED"
            yield json.dumps({"type": kind, "object": stored or {}}).encode() + b"\n"
