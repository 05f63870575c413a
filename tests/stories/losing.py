"""The proxy before the API server, losing the first answer to calls that a story says so of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from typing_extensions import override

from tests.faults.proxy import FaultProxy
from tests.stories.story import Call

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aiohttp import web

    from tests.faults.upstream import Upstream
    from tests.stories.story import Story

CALLS = {
    "/api/v1/nodes": Call.ORDER,
    "/apis/growth.dev/v1alpha1/noderequests": Call.INTENT,
}
"""With KWOK a machine is its node."""


class LosingProxy(FaultProxy):
    """Each call that is lost is lost once for each name."""

    def __init__(self, upstream: Upstream, *, kubeconfig: Path, stories: Iterable[Story]) -> None:
        super().__init__(upstream, kubeconfig=kubeconfig)
        self._loses = {f"{pool}-": story.loses for story in stories for pool in story.pool_names}
        self.lost: set[tuple[Call, str]] = set()

    @override
    async def _pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        answer = await super()._pass_on(request)
        call = CALLS.get(request.path) if request.method == "POST" else None
        if call is not None and self._is_lost(call, await request.read()):
            assert request.transport is not None
            request.transport.abort()
        return answer

    def _is_lost(self, call: Call, body: bytes) -> bool:
        name: str = msgspec.json.decode(body)["metadata"]["name"]
        is_first = (call, name) not in self.lost
        is_meant = any(
            name.startswith(prefix) and call in calls for prefix, calls in self._loses.items()
        )
        if is_first and is_meant:
            self.lost.add((call, name))
        return is_first and is_meant
