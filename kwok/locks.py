"""One at a time: a lock that ends with its owner, however that ends.

The kernel gives a lock on a file back when the process dies, so a killed builder or a killed `up`
blocks nobody. The file itself is removed with the lock, which needs one look after locking: the
file that we hold may have been removed by its last owner while we waited.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextlib.contextmanager
def locked(path: Path, *, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock while the body runs; `waiting` is told once when someone else holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    told = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not _try_lock(descriptor):
                if not told:
                    waiting()
                    told = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _still_there(descriptor, path):
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return
        finally:
            os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether someone holds the lock now."""
    try:
        with path.open("rb") as file:
            return not _try_lock(file.fileno())
    except FileNotFoundError:
        return False


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
