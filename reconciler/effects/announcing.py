"""Announces each point to a listener before it is passed, so that tests can stop the process there.

To end a process exactly between two effects, a test has to hold it there. So each point is written
to a socket, and the process goes on when an answer arrives. In production there is no listener and
no setting for one: the variable is for the tests of this repository.
"""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reconciler.effects.points import Point

VARIABLE: Final = "GROWTH_TEST_ANNOUNCE_TO"
"""The path of a Unix socket."""


@contextmanager
def announcing() -> Iterator[Callable[[Point], None]]:
    """The function that announces points; it does nothing unless a test listens."""
    path = os.environ.get(VARIABLE)
    if not path:
        yield lambda _: None
        return
    with socket.socket(socket.AF_UNIX) as listener:
        listener.connect(path)
        yield lambda point: _tell(listener, point)


def _tell(listener: socket.socket, point: Point) -> None:
    """Blocks the whole process on purpose: nothing else may happen meanwhile."""
    listener.sendall(msgspec.json.encode(point) + b"\n")
    listener.recv(1)
