"""Limits how many connections a port has at once: in total, and from one address.

The limits apply to sockets, so they include connections that are still in their TLS handshake or
have sent nothing yet. Further connections are closed at once; the log says so once a minute.
"""

from __future__ import annotations

import math
import socket
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import structlog
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

TOLD_EVERY: Final = 60.0
"""Seconds between log lines about refused connections of a port."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """How many connections a port may have."""

    total: int
    each: int
    """From one address, so that a single client can't keep all others out."""


FEW: Final = ConnectionLimits(total=128, each=32)
"""For ports with few clients, such as probes, a Prometheus or a reconciler."""


class LimitedSocket(socket.socket):
    """A listening socket with limits. It takes over the descriptor of another one."""

    def __init__(self, listening: socket.socket, limits: ConnectionLimits) -> None:
        super().__init__(
            listening.family, listening.type, listening.proto, fileno=listening.detach()
        )
        self._limits = limits
        self._open: Counter[str] = Counter()
        self._told_at = -math.inf

    @override
    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, or refuse it with the error that means "look again later"."""
        connection, place = super().accept()
        host = str(place[0])
        if self._open.total() >= self._limits.total or self._open[host] >= self._limits.each:
            connection.close()
            self._tell(host)
            raise ConnectionAbortedError("too many connections")
        self._open[host] += 1
        return _CountedSocket(connection, on_close=partial(self._closed_one, host)), place

    def _closed_one(self, host: str) -> None:
        self._open[host] -= 1
        if not self._open[host]:
            del self._open[host]

    def _tell(self, host: str) -> None:
        now = time.monotonic()
        if now - self._told_at >= TOLD_EVERY:
            self._told_at = now
            port = self.getsockname()[1]
            _log.warning("refused a connection: there are too many", port=port, by=host)


class _CountedSocket(socket.socket):
    def __init__(self, connection: socket.socket, *, on_close: Callable[[], None]) -> None:
        super().__init__(
            connection.family, connection.type, connection.proto, fileno=connection.detach()
        )
        self._on_close: Callable[[], None] | None = on_close

    @override
    def close(self) -> None:
        super().close()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()
