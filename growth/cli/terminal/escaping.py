r"""Escapes what could control a terminal in everything that commands print.

Names, annotations, messages and notes of events are written by others, and a terminal obeys the
control characters in them: they move the cursor, overwrite lines, or change the order of letters.
So standard output and standard error are wrapped while a command runs, and no command has to
remember it. Sequences of our own that move the cursor take `write_control`.

The form `\u001b` is also what JSON and YAML read back as the character.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Final, TextIO, cast

from typing_extensions import override

from growth.colours import wants_colours

if TYPE_CHECKING:
    from collections.abc import Iterator

OVERWRITE: Final = "\r\x1b[2K"
"""Back to the beginning of the line, which is cleared."""

# C0 except tab and newline, DEL, C1, line separators, and what changes the direction of text.
_CONTROLS: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
# Our own colours are in the middle of lines. They may pass, because none of them hides text.
_COLOURS: Final = r"\x1b\[(?:[0-2]|3[1-6])m"
_CONTROL: Final = re.compile(_CONTROLS)
_COLOUR_OR_CONTROL: Final = re.compile(f"(?P<colour>{_COLOURS})|{_CONTROLS}")


@contextmanager
def escaped_output() -> Iterator[None]:
    """Escape everything that is printed in this block."""
    with ExitStack() as wrapped:
        wrapped.enter_context(redirect_stdout(cast("TextIO", _Escaping(sys.stdout))))
        wrapped.enter_context(redirect_stderr(cast("TextIO", _Escaping(sys.stderr))))
        yield


def escaped(text: str, *, colours: bool = False) -> str:
    """The text without control characters except tabs and newlines."""
    if colours:
        return _COLOUR_OR_CONTROL.sub(lambda found: found["colour"] or _code(found[0]), text)
    return _CONTROL.sub(lambda found: _code(found[0]), text)


def unbroken_line(text: str) -> str:
    """A line that others' text can't end."""
    return text.replace("\n", _code("\n"))


def write_control(sequence: str, stream: TextIO) -> None:
    """Write a sequence of our own that moves the cursor or clears lines."""
    target = stream.target if isinstance(stream, _Escaping) else stream
    target.write(sequence)


def _code(control: str) -> str:
    return f"\\u{ord(control):04x}"


class _Escaping(io.TextIOBase):
    """A text stream that escapes what it passes on."""

    def __init__(self, target: TextIO) -> None:
        self.target = target
        self._colours = wants_colours(target)

    @override
    def write(self, text: str, /) -> int:
        self.target.write(escaped(text, colours=self._colours))
        return len(text)

    @override
    def flush(self) -> None:
        self.target.flush()

    @override
    def isatty(self) -> bool:
        return self.target.isatty()

    @override
    def fileno(self) -> int:
        return self.target.fileno()
