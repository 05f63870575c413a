"""A moment that Ctrl-C and SIGTERM don't cut in two.

Between a program's start and the block that ends it again lies a moment in which an interruption
would leave the program behind, running for nobody. Within it the signals are noted and come right
after.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def interrupted_only_after() -> Iterator[None]:
    """What is done within is done whole; a signal that came meanwhile is delivered at its end."""
    if threading.current_thread() is not threading.main_thread():
        # Python calls handlers in the main thread alone.
        yield
        return
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    # Handlers, not the kernel's mask: a program that is started within would inherit the mask.
    before = {each: signal.signal(each, note) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in came[:1]:
            signal.raise_signal(number)
