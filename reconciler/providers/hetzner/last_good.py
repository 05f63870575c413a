"""A cached value that is read again after a while; if that fails, the last good value stays in use.

Concurrent callers share one read and its result. A failure is cached too, for a shorter time: the
read may have failed by a timeout, and a burst of purchases would otherwise wait for one timeout
after another.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from reconciler.providers.hetzner.calls import CallFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from growth.instant import Instant
    from reconciler.providers.hetzner.failures import Failure

FAILED_FOR: Final = 30.0
"""Seconds until a failed read is tried again; sooner if Hetzner says so."""
Value = TypeVar("Value")


class LastGood(Generic[Value]):
    """One value, and how to read it."""

    def __init__(
        self, read: Callable[[], Awaitable[Value]], *, now: Callable[[], Instant], lasts: float
    ) -> None:
        self._read = read
        self._now = now
        self._lasts = lasts
        """Seconds for which a value is used."""
        self._one_at_a_time = asyncio.Lock()
        self._due_at = -math.inf
        self._expires_at = math.inf
        """Set by `expire_within` since the last read began."""
        self._failure: Failure | None = None
        """Why the last read failed, if it did."""
        self.last: Value | None = None
        self.asked_at = now().monotonic
        """When the value was last used."""

    async def value(self) -> Value:
        """The value. Raises CallFailed if no read has succeeded yet."""
        self.asked_at = self._now().monotonic
        async with self._one_at_a_time:
            if self._now().monotonic >= min(self._due_at, self._expires_at):
                await self._read_again()
            if self.last is None and self._failure is not None:
                raise CallFailed(self._failure)
            return cast("Value", self.last)

    def expire_within(self, seconds: float) -> None:
        """Expire after at most this many seconds, even if a read is in progress."""
        self._expires_at = min(self._expires_at, self._now().monotonic + seconds)

    async def _read_again(self) -> None:
        begun = self._now().monotonic
        self._expires_at = math.inf
        try:
            self.last = await self._read()
        except CallFailed as failed:
            self._failure = failed.failure
            wait = min(failed.failure.seconds or FAILED_FOR, FAILED_FOR)
            self._due_at = self._now().monotonic + wait
        else:
            self._failure = None
            self._due_at = begun + self._lasts
