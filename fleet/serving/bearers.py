"""Reads who sends a request from its bearer token, and keeps the answer for a short while.

An unknown token costs a question to the API server or a signature to check. So the questions of
one address are limited, and invented tokens can't keep out agents whose tokens are known.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import TYPE_CHECKING, Final, Protocol

import structlog

from fleet.serving.allowances import Allowances
from growth.errors import RetryLater
from growth.service.request_body import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleet.reports.access import AgentClaims

KNOWN_FOR: Final = 10.0
"""Seconds for which an answer counts; so long a revoked token still works."""
MOST_KNOWN: Final = 4096
LONGEST: Final = 8192
"""Characters of a token."""
AT_ONCE: Final = 8
"""Questions at the same time."""

_log = structlog.get_logger(__name__)


class BearerReader(Protocol):
    """Reads tokens of one kind."""

    async def claims_of(self, token: str) -> AgentClaims | None:
        """What a valid token says; None if it isn't one. `RetryLater` if that isn't known now."""
        ...


class Bearers:
    """Reads the tokens of requests, with any of several readers."""

    def __init__(self, *readers: BearerReader, clock: Callable[[], float] = time.monotonic) -> None:
        self._readers = readers
        self._clock = clock
        self._known: dict[bytes, tuple[AgentClaims | None, float]] = {}
        """The claims of a token, and until when they count; by its digest."""
        self._questions = Allowances(a_second=20, at_once=100, clock=clock)
        self._at_once = asyncio.Semaphore(AT_ONCE)

    async def of(self, authorization: str, *, by: str) -> AgentClaims | None:
        """The claims of a request's bearer; None if it has no valid token."""
        kind, _, token = authorization.partition(" ")
        token = token.strip()
        if kind.lower() != "bearer" or not token or len(token) > LONGEST:
            return None
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        claims, until = self._known.get(digest, (None, 0.0))
        if self._clock() < until:
            return claims
        if not self._questions.take(by):
            raise RequestRefused(429, "too many unknown tokens from this address")
        claims = await self._read(token)
        self._remember(digest, claims)
        return claims

    async def _read(self, token: str) -> AgentClaims | None:
        async with self._at_once:
            for reader in self._readers:
                try:
                    claims = await reader.claims_of(token)
                except RetryLater as error:
                    _log.warning("could not check the token of an agent", reason=str(error))
                    raise RequestRefused(503, "the token can't be checked now") from None
                if claims is not None:
                    return claims
        return None

    def _remember(self, digest: bytes, claims: AgentClaims | None) -> None:
        self._known.pop(digest, None)
        while len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[digest] = (claims, self._clock() + KNOWN_FOR)
