"""A view that updates itself on the terminal and leaves the terminal as it was.

It uses the terminal's alternate screen, so the previous output reappears afterwards. If the cluster
stops answering, the last line says so below the last known state. Only the first read may fail.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from growth.cli.terminal.escaping import unbroken_line, write_control
from growth.errors import RetryLater

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""Alternate screen, no cursor, and lines that are too long are cut instead of wrapped."""
LEAVE: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOME: Final = "\x1b[H"
CLEAR_LINE: Final = "\x1b[K"
CLEAR_REST: Final = "\x1b[J"


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def height() -> int:
    """The number of lines in the window."""
    return shutil.get_terminal_size().lines


async def redrawn(look: Callable[[], Awaitable[Sequence[str]]], *, every: float) -> None:
    """Draw until Ctrl-C."""
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
    write_control(ENTER, sys.stdout)
    try:
        yield
    finally:
        write_control(LEAVE, sys.stdout)
        sys.stdout.flush()


def _draw(lines: Sequence[str]) -> None:
    write_control(HOME, sys.stdout)
    for line in lines[: height() - 1]:
        sys.stdout.write(unbroken_line(line))
        write_control(f"{CLEAR_LINE}\r\n", sys.stdout)
    write_control(CLEAR_REST, sys.stdout)
    sys.stdout.flush()
