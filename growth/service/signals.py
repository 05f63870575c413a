"""SIGTERM and SIGINT, heard even while the event loop is blocked.

asyncio runs its signal callbacks in the loop, so a loop that hangs hears nothing. Python's C
handler however writes each signal's number into a socket at once; a thread reads it there.
(Blocking the signals and waiting for them would do as well, but worker processes inherit a blocked
mask and could then not be stopped.)
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
    """Call back, in a thread, at the first signal that ends a process; the second ends it at once.

    For the main thread, once, and for the rest of the process's life.
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
    """Nothing is left to do here: the number is in the socket."""


def _listen(reader: socket.socket, _writer: socket.socket, on_first: Callable[[], None]) -> None:
    # The writer is held here, as its descriptor would be closed with the last reference.
    _next(reader)
    on_first()
    os._exit(128 + _next(reader))


def _next(reader: socket.socket) -> int:
    while (number := reader.recv(1)[0]) not in ENDING:
        pass
    return number
