"""What a command writes to a terminal, piece by piece and with its time.

The command gets a pseudo-terminal, so that it prints as it does for a person: in colour, and as
wide as the window is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

COLUMNS: Final = 100
LINES: Final = 34


class Piece(NamedTuple):
    """What came at once, and how many seconds after the beginning."""

    at: float
    text: str


def recorded(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    seconds: float,
    then: Callable[[], None] = lambda: None,
    within: float = 300,
) -> list[Piece]:
    """Everything until it ends by itself; if not 0, a Ctrl-C so long after its first word.

    What is to happen `then` happens at its first word.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    started = time.monotonic()
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=dict(environment), close_fds=True
    ) as process:
        os.close(slave)
        pieces: list[Piece] = []
        asked = False
        while time.monotonic() - started < within:
            seen = time.monotonic() - started - pieces[0].at if pieces else 0
            if seconds and seen > seconds and not asked:
                process.send_signal(signal.SIGINT)
                asked = True
            if not select.select([master], [], [], 0.1)[0]:
                if process.poll() is not None:
                    break
                continue
            try:
                content = os.read(master, 65536)
            except OSError:  # The other side was closed: the command has ended.
                break
            pieces.append(Piece(time.monotonic() - started, content.decode("utf-8", "replace")))
            if len(pieces) == 1:
                then()
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    os.close(master)
    return pieces
