"""What stands on a terminal after all that was written to it, as far as growth makes use of one.

Each character has its colour, each line the time at which it was written last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.pictures.recording import Piece

_TOKEN: Final = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")
_LEAVES: Final = ("?", "1049", "l")
BY_ITSELF: Final = r"(?<![A-Za-z0-9-]){}(?![A-Za-z0-9-])"
"""A machine's name where it is one, and not some letters of a pod's."""


class Run(NamedTuple):
    """Characters of one line that look alike."""

    text: str
    colour: str


@dataclass
class Line:
    """One line, and when it was written last."""

    at: float = 0.0
    characters: list[tuple[str, str]] = field(default_factory=list)

    def runs(self) -> list[Run]:
        """Its text, cut where the colour changes."""
        found: list[Run] = []
        for character, colour in self.characters:
            if found and found[-1].colour == colour:
                found[-1] = Run(found[-1].text + character, colour)
            else:
                found.append(Run(character, colour))
        return found

    def text(self) -> str:
        """Without colours."""
        return "".join(character for character, _ in self.characters)


@dataclass
class Screen:
    """A terminal that never scrolls: what leaves it at the top is part of the picture."""

    lines: list[Line] = field(default_factory=lambda: [Line()])
    row: int = 0
    column: int = 0
    colour: str = ""

    def write(self, pieces: Iterable[Piece]) -> None:
        """Take all of it; a view that is left stays as it was seen last."""
        for at, text in pieces:
            for found in _TOKEN.finditer(text):
                private, numbers, letter, back, down, plain = found.groups()
                if (private, numbers, letter) == _LEAVES:
                    return
                if letter and not private:
                    self._control(letter, numbers)
                elif back:
                    self.column = 0
                elif down:
                    self._to(self.row + 1, self.column)
                elif plain:
                    self._put(plain, at)

    def _control(self, letter: str, numbers: str) -> None:
        match letter:
            case "m":
                self.colour = "" if numbers in {"", "0"} else numbers
            case "H":
                self._to(0, 0)
            case "K":
                del self.lines[self.row].characters[self.column :]
            case "J":
                del self.lines[self.row].characters[self.column :]
                del self.lines[self.row + 1 :]
            case _:
                raise NotImplementedError(f"ESC[{numbers}{letter}")

    def _to(self, row: int, column: int) -> None:
        self.row, self.column = row, column
        while len(self.lines) <= row:
            self.lines.append(Line())

    def _put(self, text: str, at: float) -> None:
        line = self.lines[self.row]
        line.characters += [(" ", "")] * (self.column - len(line.characters))
        end = self.column + len(text)
        line.characters[self.column : end] = [(character, self.colour) for character in text]
        line.at, self.column = at, end

    def written(self) -> list[Line]:
        """All lines down to the last one that isn't empty."""
        last = max((n for n, line in enumerate(self.lines) if line.text().strip()), default=-1)
        return self.lines[: last + 1]
