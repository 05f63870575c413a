"""Limits how many connections a port has at once: in total, and from one address.

The limits apply to sockets, so they include connections that are still in their TLS handshake or
have sent nothing yet. Further connections are closed at once; the log says so once a minute.

A full port is shared fairly: a new connection takes the place of the oldest one of the address that
has the most, unless its own address would then have the most. Otherwise a few clients that hold
their connections open could keep out the kubelet's probes, and the container would be restarted.
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from dataclasses import dataclass
from functools import partial
from itertools import count
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
        self._open: dict[str, dict[int, _CountedSocket]] = {}
        """By address, the oldest first."""
        self._serials = count()
        self._told_at = -math.inf

    @override
    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, or refuse it with the error that means "look again later"."""
        connection, place = super().accept()
        host = str(place[0])
        if not self._has_room(host):
            connection.close()
            self._tell(host)
            raise ConnectionAbortedError("too many connections")
        serial = next(self._serials)
        counted = _CountedSocket(connection, on_close=partial(self._forget, host, serial))
        self._open.setdefault(host, {})[serial] = counted
        return counted, place

    def _has_room(self, host: str) -> bool:
        """Whether another one from this address may come; one of another address may end for it."""
        own = len(self._open.get(host, ()))
        if own >= self._limits.each or not self._limits.total:
            return False
        if sum(map(len, self._open.values())) < self._limits.total:
            return True
        most = max(self._open, key=lambda each: len(self._open[each]))
        is_fairer = len(self._open[most]) > own + 1
        if is_fairer:
            self._end_oldest(most)
        return is_fairer

    def _end_oldest(self, host: str) -> None:
        serial, oldest = next(iter(self._open[host].items()))
        # At once: its reader closes it later, and until then others may ask for room.
        self._forget(host, serial)
        self._tell(host)
        # Its reader sees an end. Closing a socket that an event loop watches is an error.
        with contextlib.suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)

    def _forget(self, host: str, serial: int) -> None:
        same = self._open.get(host, {})
        same.pop(serial, None)
        if not same:
            self._open.pop(host, None)

    def _tell(self, host: str) -> None:
        now = time.monotonic()
        if now - self._told_at >= TOLD_EVERY:
            self._told_at = now
            port = self.getsockname()[1]
            _log.warning("refused or ended a connection: there are too many", port=port, by=host)


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
