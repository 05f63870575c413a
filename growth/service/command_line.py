"""The words after the name of a process: `--setting value`, `--setting=value`, and a few more.

Read by hand because argparse takes `-5s` for a flag, answers a mistake with two lines, and lays its
help out anew with every Python.
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
    """What the process is asked to do."""

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
    """What was asked for, and the text given with each flag."""

    wish: ProcessWish
    texts: Mapping[str, str]


def parse_words(words: Sequence[str], *, flags: Iterable[str]) -> CommandLine:
    """Sort the words; where a flag comes twice, the last one counts."""
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
            raise Misconfigured(f"{flag}: a value must follow; --help tells which")
        texts[flag] = value
    return CommandLine(wish=wish, texts=texts)


def _unknown(word: str, known: Iterable[str]) -> str:
    if not word.startswith("-"):
        return f"{word}: a flag is expected here, like --log-level debug; --help lists them"
    return f"{word}: there is no such flag; {flag_meant(word, [*known, *WISHES])}"


def flag_meant(word: str, known: Iterable[str]) -> str:
    """What to write instead of a word that isn't known."""
    return did_you_mean(word, known) or "--help lists them"
