"""A lock that ends with its owner, however that ends.

The kernel releases a file lock when its process dies, so a killed build or `up` blocks nothing. The
file is removed together with the lock. This requires a check after locking: the last owner may have
removed the file that we hold while we waited. The file names its owner, for those who wait too
long.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.errors import GiveUp
from kwok.waiting import Patience, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_WITHIN: Final = 600.0


class _Held(NamedTuple):
    descriptor: int


@contextlib.contextmanager
def locked(path: Path, *, waiting: Callable[[], None], within: float = _WITHIN) -> Iterator[None]:
    """Hold the lock while the body runs; `waiting` is called whenever the lock is found held."""
    path.parent.mkdir(parents=True, exist_ok=True)
    held = _take(path) or _wait(path, waiting, within)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(held.descriptor)


def _wait(path: Path, waiting: Callable[[], None], within: float) -> _Held:
    def look() -> _Held | None:
        waiting()
        return _take(path)

    try:
        return wait_for(look, f"the lock {path}", patience=Patience(within))
    except GiveUp as failure:
        raise GiveUp(f"{failure}; {_owner(path)} holds it: wait for it, or end it") from None


def _owner(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return f"process {int(path.read_text('utf-8'))}"
    return "another command"


def _take(path: Path) -> _Held | None:
    """The lock, if it is free."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if _try_lock(descriptor) and _still_there(descriptor, path):
        # A full disk must not prevent the removal of a cluster.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        return _Held(descriptor)
    os.close(descriptor)
    return None


def is_locked(path: Path) -> bool:
    """Whether the lock is held now."""
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
