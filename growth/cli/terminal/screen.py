"""A view that is drawn again and again on a terminal, and leaves it as it was.

It lives on the terminal's other screen, so what was there before is there afterwards. A cluster
that stops answering is told in the view's last line, under what was seen last; only the first look
may fail.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from growth.errors import RetryLater

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""The other screen, no cursor, and what is wider than the window is cut and not wrapped."""
LEAVE: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOME: Final = "\x1b[H"
CLEAR_LINE: Final = "\x1b[K"
CLEAR_REST: Final = "\x1b[J"


def is_terminal() -> bool:
    """Whether a person sees what is printed."""
    return sys.stdout.isatty()


def height() -> int:
    """Lines of the window."""
    return shutil.get_terminal_size().lines


async def redrawn(look: Callable[[], Awaitable[Sequence[str]]], *, every: float) -> None:
    """Draw for ever; Ctrl-C is how it ends."""
    lines = await look()
    with _other_screen():
        while True:
            _draw(lines)
            await asyncio.sleep(every)
            try:
                lines = await look()
            except RetryLater as trouble:
                lines = [*lines[: height() - 2], f"outdated: {trouble}"]


@contextmanager
def _other_screen() -> Iterator[None]:
    sys.stdout.write(ENTER)
    try:
        yield
    finally:
        sys.stdout.write(LEAVE)
        sys.stdout.flush()


def _draw(lines: Sequence[str]) -> None:
    drawn = "".join(f"{line}{CLEAR_LINE}\r\n" for line in lines[: height() - 1])
    sys.stdout.write(f"{HOME}{drawn}{CLEAR_REST}")
    sys.stdout.flush()
