"""A section that Ctrl-C and SIGTERM don't interrupt.

Between a program's start and the block that ends it, there is a moment in which an interruption
would leave the program running. In that section, signals are recorded and delivered right after it.
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
    """Complete the section; a signal that arrives in the meantime is delivered at its end."""
    if threading.current_thread() is not threading.main_thread():
        # Python calls handlers only in the main thread.
        yield
        return
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    # Handlers instead of the kernel's mask, because a program started here would inherit the mask.
    before = {each: signal.signal(each, note) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in came[:1]:
            signal.raise_signal(number)
