"""Tables and sentences of generated pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def markdown_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table; the text of a cell is one line."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def as_sentence(text: str) -> str:
    """The description of a flag or a command, as a sentence."""
    return text[0].upper() + text[1:] + "."
