"""Handles SIGTERM and SIGINT, even while the event loop is blocked.

asyncio runs signal callbacks in the loop, so a blocked loop doesn't react. But Python's C handler
writes the number of each signal to a socket at once, and a thread reads it there. (Blocking the
signals and waiting for them would also work, but worker processes would inherit the mask and
couldn't be stopped.)
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ENDING = (signal.SIGTERM, signal.SIGINT)


def hear(on_first: Callable[[], None]) -> None:
    """Call `on_first` in a thread after the first signal; the second one exits at once.

    Call this once, in the main thread; it stays in effect until the process ends.
    """
    reader, writer = socket.socketpair()
    writer.settimeout(0)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    for number in ENDING:
        signal.signal(number, _noted)
    threading.Thread(
        target=_listen, args=(reader, writer, on_first), name="signals", daemon=True
    ).start()


def _noted(_number: int, _frame: object) -> None:
    """Do nothing: the number is already in the socket."""


def _listen(reader: socket.socket, _writer: socket.socket, on_first: Callable[[], None]) -> None:
    # The parameter keeps the writer alive: without a reference, its descriptor would be closed.
    _next(reader)
    on_first()
    os._exit(128 + _next(reader))


def _next(reader: socket.socket) -> int:
    while (number := reader.recv(1)[0]) not in ENDING:
        pass
    return number
