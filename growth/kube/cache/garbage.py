"""Python's garbage collector and big lists: no collections while one is read, and none of it later.

Decoding thousands of objects triggers full collections again and again over all that is there, and
finds nothing: two to seven times the CPU time of the decoding. What the first list brought stays,
so it is taken out of later collections for good.
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
    """No garbage collection while any list of this process is under way."""
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
    """What exists now is not looked at by later collections; it is still freed when unused."""
    gc.freeze()
