"""Reads the extender's demand stream, for as long as the process runs.

A lost stream needs no reaction: our own book continues, and only what the scheduler alone knows is
missing. So the stream is read again from its last position, after a back-off. It counts as lost
after an end, an error, an unreadable line, and silence, because a server without news sends its
position every few seconds.
"""

from __future__ import annotations

import asyncio
import enum
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

import aiohttp
import structlog
from prometheus_client import Counter, Gauge

from growth.demand import wire
from growth.demand.wire import Bookmark, PositionExpired
from growth.errors import RetryLater
from growth.foreign_text import parse_seconds
from growth.kube.backoff import Backoff
from growth.kube.cache.watch_events import Garbled, Lines

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Sequence
    from random import Random

    from prometheus_client import CollectorRegistry

    from growth.demand.history import EntryChange

CONNECT_SECONDS: Final = 5.0
LONGEST_WAIT: Final = 5.0
"""The longest wait in seconds: a try is cheap, and holds don't last much longer."""

_log = structlog.get_logger(__name__)


class Listener(Protocol):
    """Handles the lines of the stream."""

    @property
    def resumes_at(self) -> str | None:
        """The position from which to continue; None means from the start."""

    def connected(self) -> None:
        """Note that the stream is connected, and continues from `resumes_at`."""

    def hear(self, said: Iterable[EntryChange | Bookmark | PositionExpired]) -> None:
        """Handle lines."""


@dataclass(frozen=True, kw_only=True)
class StreamSource:
    """The address of the stream."""

    url: str
    """The URL of the server, without the path."""
    certificates: Callable[[], ssl.SSLContext] | None = None
    """Returns the newest client certificate, for each connection."""
    silence: float = wire.SILENCE_SECONDS


class StreamLoss(enum.Enum):
    """Why the stream was lost."""

    ENDED = "ended"
    SILENT = "silent"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    """The server doesn't answer with the stream, or we have no client certificate."""
    UNREADABLE = "unreadable"
    """The stream can't be trusted, so it is read from the start."""


class FollowedStreamMetrics:
    """The metrics of the stream."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.whole = Gauge(
            "growth_demand_stream_whole",
            "1 if the extender's demand stream is connected and complete",
            registry=registry,
        )
        self.lost = Counter(
            "growth_demand_stream_lost",
            "Disconnects of the extender's demand stream, by cause",
            ["how"],
            registry=registry,
        )
        for loss in StreamLoss:
            self.lost.labels(loss.value)


class DemandStream:
    """The reader of the stream."""

    def __init__(
        self,
        source: StreamSource,
        listener: Listener,
        *,
        changed: Callable[[], None],
        chance: Random,
        metrics: FollowedStreamMetrics,
    ) -> None:
        """`changed` is called after each piece."""
        self._source = source
        self._listener = listener
        self._changed = changed
        self._backoff = Backoff(chance=chance, longest=LONGEST_WAIT)
        self._metrics = metrics
        self._is_whole = False
        self._is_missed = False
        """Whether the loss has been logged: an outage is logged once, not for each try."""

    async def run(self) -> NoReturn:
        """Read the stream again and again until cancelled."""
        connector = aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(connector=connector) as session:
            while True:
                wait = await self._once(session)
                await asyncio.sleep(wait)

    async def _once(self, session: aiohttp.ClientSession) -> float:
        """Read one connection to its end; returns the wait before the next one."""
        asked, position = None, self._listener.resumes_at
        try:
            await self._read(session)
            loss, reason = StreamLoss.ENDED, "the server has ended it"
            if position is not None and self._listener.resumes_at is None:
                # The server works, and only asked us to start again.
                self._backoff.succeed()
        except TimeoutError:
            loss, reason = StreamLoss.SILENT, f"nothing came for {self._source.silence:g} s"
        except (wire.Rubbish, Garbled) as error:
            # A line that can't be read may have been preceded by a wrong one: nothing that was read
            # counts.
            self._listener.hear((PositionExpired(),))
            loss, reason = StreamLoss.UNREADABLE, str(error)
        except RetryLater as error:
            loss, reason, asked = StreamLoss.REFUSED, str(error), error.after
        except (aiohttp.ClientError, OSError) as error:
            loss, reason = StreamLoss.UNREACHABLE, str(error) or type(error).__name__
        wait = self._backoff.after_failure(asked=asked)
        self._lose(loss, reason, wait)
        return wait

    async def _read(self, session: aiohttp.ClientSession) -> None:
        position = self._listener.resumes_at
        query = {"watch": "true"} | ({} if position is None else {"resourceVersion": position})
        async with (
            asyncio.timeout(self._source.silence) as silence,
            session.get(
                self._source.url + wire.PATH,
                params=query,
                ssl=True if self._source.certificates is None else self._source.certificates(),
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),
                allow_redirects=False,
            ) as response,
        ):
            _check(response)
            self._listener.connected()
            await self._hear_all(response.content, silence)

    async def _hear_all(self, content: aiohttp.StreamReader, silence: asyncio.Timeout) -> None:
        """Read all lines; only complete lines count against silence."""
        lines, clock = Lines(), asyncio.get_running_loop()
        while piece := await content.readany():
            if whole := lines.feed(piece):
                silence.reschedule(clock.time() + self._source.silence)
                said = tuple(wire.read_lines(whole))
                self._hear(said)
                if any(isinstance(each, PositionExpired) for each in said):
                    return

    def _hear(self, said: Sequence[EntryChange | Bookmark | PositionExpired]) -> None:
        self._listener.hear(said)
        if not self._is_whole and any(isinstance(each, Bookmark) for each in said):
            self._gain()
        self._changed()

    def _gain(self) -> None:
        self._is_whole, self._is_missed = True, False
        self._metrics.whole.set(1)
        self._backoff.succeed()
        _log.info("the demand stream is complete", url=self._source.url)

    def _lose(self, loss: StreamLoss, reason: str, wait: float) -> None:
        self._metrics.lost.labels(loss.value).inc()
        self._metrics.whole.set(0)
        tell = _log.debug if self._is_missed else _log.warning
        tell(
            "lost the demand stream; the own watch continues",
            url=self._source.url,
            how=loss.value,
            reason=reason,
            again_in=round(wait, 2),
        )
        self._is_whole, self._is_missed = False, True


def _check(response: aiohttp.ClientResponse) -> None:
    if response.status == HTTPStatus.OK:
        return
    raise RetryLater(
        f"it answers {response.status} {response.reason}",
        after=_asked_wait(response.headers.get("Retry-After", "")),
    )


def _asked_wait(header: str) -> float | None:
    try:
        return min(parse_seconds(header), LONGEST_WAIT)
    except ValueError:
        return None
