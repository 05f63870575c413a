"""Parses the command line of a process: `--setting value`, `--setting=value`, and a few others.

It doesn't use argparse, which treats `-5s` as a flag, reports a mistake in two lines, and formats
its help differently in each Python version.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from growth.errors import Misconfigured
from growth.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONFIG = "--config"


class ProcessWish(Enum):
    """What the process should do."""

    RUN = auto()
    HELP = auto()
    PRINT_SETTINGS = auto()


WISHES = {
    "--help": ProcessWish.HELP,
    "-h": ProcessWish.HELP,
    "--print-settings": ProcessWish.PRINT_SETTINGS,
}


@dataclass(frozen=True)
class CommandLine:
    """A parsed command line: what to do, and the text of each flag."""

    wish: ProcessWish
    texts: Mapping[str, str]


def parse_words(words: Sequence[str], *, flags: Iterable[str]) -> CommandLine:
    """Parse the words; if a flag is given twice, the last one counts."""
    known = {CONFIG, *flags}
    wish = ProcessWish.RUN
    texts: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in WISHES:
            wish = WISHES[word]
            continue
        flag, equals, text = word.partition("=")
        if flag not in known:
            raise Misconfigured(_unknown(flag, known))
        value = text if equals else next(rest, None)
        if value is None:
            raise Misconfigured(f"{flag}: its value is missing; see --help")
        texts[flag] = value
    return CommandLine(wish=wish, texts=texts)


def _unknown(word: str, known: Iterable[str]) -> str:
    if not word.startswith("-"):
        return f"{word}: expected a flag, such as --log-level debug; see --help"
    return f"{word}: unknown flag; {flag_meant(word, [*known, *WISHES])}"


def flag_meant(word: str, known: Iterable[str]) -> str:
    """What to write instead of an unknown word."""
    return did_you_mean(word, known) or "see --help"
