"""Pauses the garbage collector while large lists are read, and excludes their objects from it.

Decoding thousands of objects triggers full collections over all objects of the process. They find
nothing, and take two to seven times as much CPU time as the decoding. The objects of the first list
stay, so later collections don't look at them.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_lists_under_way = 0


@contextmanager
def no_collections() -> Iterator[None]:
    """No garbage collection while any list of this process is being read."""
    global _lists_under_way  # noqa: PLW0603 - the collector is one for the process, and so is this
    _lists_under_way += 1
    gc.disable()
    try:
        yield
    finally:
        _lists_under_way -= 1
        if not _lists_under_way:
            gc.enable()


def keep_for_good() -> None:
    """Exclude all existing objects from later collections; unused ones are still freed."""
    gc.freeze()
