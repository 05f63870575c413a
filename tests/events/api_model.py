"""The API of events as far as a recorder goes: names are taken once, series are patched."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

from typing_extensions import override

from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.transport import Connection, Response


class ModelConnection(Connection):
    """What a `Connection` to a real API server does with events."""

    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self.writes = 0
        self.error: Exception | None = None

    @override
    async def request(self, method: str, path: str, **arguments: Any) -> Response:
        await asyncio.sleep(0.001)
        if self.error is not None:
            raise self.error
        name = path.rsplit("/", 1)[1]
        found = self._found(method, name, copy.deepcopy(arguments.get("body")))
        return Response(status=200, headers={}, body=json.dumps(found).encode())

    def _found(self, method: str, name: str, body: Any) -> Any:
        if method == "POST":
            return self._create(body)
        if name not in self.events:
            raise NotFound(f"{method} {name}")
        if method == "PATCH":
            self.writes += 1
            self.events[name].update(body)
        return self.events[name]

    def _create(self, body: Any) -> Any:
        name = body["metadata"]["name"]
        if name in self.events:
            raise AlreadyExists(name)
        self.writes += 1
        self.events[name] = body
        return body
