"""A reverse proxy before the real API server that does on demand what networks and servers do."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from growth.kube.hanging_up import AbruptResponse
from tests.faults.events import EventFaults
from tests.faults.upstream import Upstream, kubeconfig_to
from tests.faults.watches import Fate, Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOT_PASSED_ON = frozenset({"Host", "Connection", "Transfer-Encoding", "Content-Length"})


@dataclass
class Refusal:
    """An answer of the proxy's own, instead of the API server's."""

    code: int
    retry_after: int | None
    left: int


class FaultProxy:
    """Passes everything on until it is told otherwise."""

    def __init__(self, upstream: Upstream, *, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.requests: Counter[str] = Counter()
        """How many requests came, by method and path."""
        self.user_agents: Counter[str] = Counter()
        self.watches: list[Watch] = []
        self.events = EventFaults()
        """What becomes of single events."""
        self._upstream = upstream
        self._refusals: list[Refusal] = []
        self._halved = 0
        self._delay = 0.0
        self._accepting: web.TCPSite | None = None
        self._runner = web.ServerRunner(
            web.Server(self._handle, handler_cancellation=True, access_log=None), shutdown_timeout=0
        )
        self._port = 0

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._upstream.tls, limit=0),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=2**22,
            response_class=AbruptResponse,
        )
        await self._runner.setup()
        await self.accept()
        self.kubeconfig.write_text(kubeconfig_to(f"http://127.0.0.1:{self._port}"))

    async def stop(self) -> None:
        self.cut_watches()
        await self._runner.cleanup()
        await self._session.close()

    # Faults on connections.

    async def refuse(self) -> None:
        """Nobody listens any more, and what is open breaks."""
        if self._accepting is not None:
            await self._accepting.stop()
            self._accepting = None
        self.cut_watches()

    async def accept(self) -> None:
        """Listens again, at the same address."""
        self._accepting = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True)
        await self._accepting.start()
        self._port = self._runner.addresses[-1][1]

    def cut_watches(self) -> None:
        """All watches are reset now, between two lines."""
        for watch in self.watches:
            watch.reset()

    def cut_watches_in_mid_line(self) -> None:
        """All watches are reset in the middle of their next line."""
        for watch in self.watches:
            watch.fate = Fate.IS_CUT

    def hang_watches(self) -> None:
        """All watches stay open and carry nothing any more."""
        for watch in self.watches:
            watch.fate = Fate.HANGS

    @property
    def server(self) -> str:
        """The API server that it leads to."""
        return self._upstream.server

    def lead_to(self, server: str) -> None:
        """Another API server from now on; what is open breaks, as with a load balancer."""
        self._upstream = replace(self._upstream, server=server)
        self.cut_watches()

    # Faults on the next requests.

    def answer(self, code: int, *, times: int = 1, retry_after: int | None = None) -> None:
        """The next requests get this answer."""
        self._refusals.append(Refusal(code, retry_after, times))

    def halve_bodies(self, times: int) -> None:
        """The next answers that aren't watches break off in their middle."""
        self._halved = times

    def delay(self, seconds: float) -> None:
        """Every request waits so long from now on."""
        self._delay = seconds

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests[f"{request.method} {request.path}"] += 1
        self.user_agents[request.headers.get("User-Agent", "")] += 1
        await asyncio.sleep(self._delay)
        if refusal := self._next_refusal():
            headers = (
                {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
            )
            status = {"kind": "Status", "code": refusal.code, "message": "told to by a test"}
            return web.json_response(status, status=refusal.code, headers=headers)
        try:
            return await self._pass_on(request)
        except aiohttp.ClientError:
            return _reset(request)

    def _next_refusal(self) -> Refusal | None:
        while self._refusals:
            refusal = self._refusals[0]
            if refusal.left > 0:
                refusal.left -= 1
                return refusal
            self._refusals.pop(0)
        return None

    async def _pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        async with self._session.request(
            request.method,
            self._upstream.server + request.path_qs,
            headers=self._headers_of(request),
            data=await request.read() or None,
        ) as answer:
            if request.query.get("watch") == "true" and answer.status == 200:
                return await self._watch(request, answer)
            body = await answer.read()
            kept = {
                name: value for name, value in answer.headers.items() if name not in NOT_PASSED_ON
            }
            if self._halved:
                self._halved -= 1
                return await _half(request, body)
            return web.Response(status=answer.status, body=body, headers=kept)

    def _headers_of(self, request: web.BaseRequest) -> dict[str, str]:
        """What the API server is told of who asks."""
        passed = request.headers.items()
        return {name: value for name, value in passed if name not in NOT_PASSED_ON}

    async def _watch(
        self, request: web.BaseRequest, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        watch = Watch(request, response, self.events)
        self.watches.append(watch)
        try:
            await watch.forward(answer)
        except (aiohttp.ClientError, ConnectionError):
            watch.reset()
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.watches.remove(watch)
        return response


def _reset(request: web.BaseRequest) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _half(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": str(len(body))})
    await response.prepare(request)
    with suppress(ConnectionError):
        await response.write(body[: len(body) // 2])
    return _reset(request)


@asynccontextmanager
async def fault_proxy(kubeconfig: Path, *, folder: Path) -> AsyncIterator[FaultProxy]:
    """A proxy before the API server of this kubeconfig; its own is written into the folder."""
    proxy = FaultProxy(Upstream.of(kubeconfig), kubeconfig=folder / "faults.kubeconfig")
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
