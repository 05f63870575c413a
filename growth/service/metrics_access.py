"""Decides who may read /metrics.

Callers on the same machine may, such as `kubectl port-forward` or a sidecar. Others need a token
whose owner may `get` the path /metrics, as with Kubernetes' own components. The API server's answer
is kept for a short while, and one address can't cause more than one question in a second: a client
that sends invented tokens is refused, and can't use up growth's share of the API server. Health is
never refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, Self

import structlog
from aiohttp import web

from growth.api.installed import METRICS_READER
from growth.errors import GrowthError
from growth.kube.token_review import TokenVerdict, reviewed
from growth.kube.transport import Connection, connect
from growth.service.address import is_loopback
from growth.service.settings import MetricsAccess

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from growth.service.settings import ServiceSettings

PATH: Final = "/metrics"
KNOWN_FOR: Final = 10.0
"""Seconds for which an answer of the API server counts, as in Kubernetes' own components."""
MOST_KNOWN: Final = 256
"""Answers that are kept."""
PAUSE: Final = 1.0
"""Seconds between two questions for the same address."""
AT_ONCE: Final = 4
"""Questions to the API server at the same time."""
FOR_EVERYONE: Final = frozenset(
    {
        "growth_extender_verb_seconds_count",
        "growth_extender_refused_total",
        "process_start_time_seconds",
    }
)
"""Samples that everyone may read, with `?name[]=`: by them `growth doctor` sees through the API
server, which passes no token on, whether kube-scheduler calls the extender."""

_log = structlog.get_logger(__name__)


class MetricsGuard:
    """Refuses requests for /metrics; an async context manager."""

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        process: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._process = process
        self._clock = clock
        self._known: dict[bytes, tuple[TokenVerdict, float]] = {}
        """The verdict on a token, and until when it counts; by the token's digest."""
        self._asked: dict[str, float] = {}
        """When a question was last asked for an address."""
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self._connection: Connection | None = None
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._closing.aclose()

    async def refusal(self, request: web.Request) -> web.Response | None:
        """The refusal of a request; None if it may be answered."""
        if self._settings.metrics_access is MetricsAccess.OPEN or is_loopback(request.remote or ""):
            return None
        names = frozenset(request.query.getall("name[]", ()))
        if names and names <= FOR_EVERYONE:
            return None
        if self._settings.metrics_access is MetricsAccess.LOOPBACK:
            return _refused(403, "metrics are for callers on this machine (--metrics-access)")
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            return _refused(401, "metrics need a bearer token (--metrics-access)")
        return await self._refusal_of(token.strip(), by=request.remote or "")

    async def _refusal_of(self, token: str, *, by: str) -> web.Response | None:
        digest = hashlib.sha256(token.encode()).digest()
        verdict = self._remembered(digest)
        if verdict is None:
            if not self._may_ask(by):
                return _refused(429, "too many tokens from this address; try again in a second")
            verdict = await self._asked_for(token)
            if verdict is None:
                return _refused(503, "the API server can't be asked about the token now")
            self._remember(digest, verdict)
        return _refusal_by(verdict)

    def _remembered(self, digest: bytes) -> TokenVerdict | None:
        verdict, until = self._known.get(digest, (None, 0.0))
        return verdict if self._clock() < until else None

    def _remember(self, digest: bytes, verdict: TokenVerdict) -> None:
        now = self._clock()
        known = {each: it for each, it in self._known.items() if now < it[1] and each != digest}
        while len(known) >= MOST_KNOWN:
            del known[next(iter(known))]
        self._known = known | {digest: (verdict, now + KNOWN_FOR)}

    def _may_ask(self, address: str) -> bool:
        now = self._clock()
        self._asked = {each: at for each, at in self._asked.items() if now - at < PAUSE}
        if address in self._asked:
            return False
        self._asked[address] = now
        return True

    async def _asked_for(self, token: str) -> TokenVerdict | None:
        """The API server's verdict; None if it gives none."""
        try:
            async with self._at_once:
                return await reviewed(await self._connected(), token, path=PATH)
        except GrowthError as error:
            _log.warning("could not check a token for metrics", reason=str(error))
            return None

    async def _connected(self) -> Connection:
        if self._connection is None:
            settings = self._settings
            connection = await connect(
                kubeconfig=settings.kubeconfig, context=settings.context, process=self._process
            )
            self._connection = await self._closing.enter_async_context(connection)
        return self._connection


def _refused(status: int, text: str) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status in {429, 503}:
        headers["Retry-After"] = "1"
    return web.Response(status=status, text=f"{text}\n", headers=headers)


def _refusal_by(verdict: TokenVerdict) -> web.Response | None:
    match verdict:
        case TokenVerdict.ALLOWED:
            return None
        case TokenVerdict.UNKNOWN:
            return _refused(401, "the API server doesn't know this token")
        case TokenVerdict.FORBIDDEN:
            return _refused(
                403, f"this needs the right to get {PATH}, as in ClusterRole {METRICS_READER}"
            )
