"""In which order the files of tests run: the longest first, and beyond that as a seed draws it.

Files are given to the processes of a run in their order. A long one that begins at the end is
waited for alone, so those come first. All others are drawn, so that a test which passes only behind
another one is found. The day is the seed unless one is named, so the runs of a day are alike.

Each file has a place of its own in a draw, whichever others run with it: some files alone come in
the same order as all of them. The files of a folder stay together, as they share clusters.
"""

from __future__ import annotations

import hashlib
import shlex
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import PurePath

VARIABLE: Final = "ORDER"
LONGEST: Final = frozenset({"manifests", "stories", "thread"})
"""Folders."""
LAST: Final = frozenset({"test_without_growth"})
"""Files that leave nothing of the installation which others of their folder share."""


class Turn(IntEnum):
    """What comes first."""

    LONG = 0
    USUAL = 1
    LAST = 2


def turn_of(file: PurePath) -> Turn:
    """Among which others a file comes."""
    if file.stem in LAST:
        return Turn.LAST
    return Turn.LONG if file.parent.name in LONGEST else Turn.USUAL


def place_of(file: PurePath, *, seed: str) -> tuple[Turn, str, str]:
    """Where a file comes in a draw: files are sorted by it."""
    return turn_of(file), _drawn(file.parent, seed), _drawn(file, seed)


def _drawn(path: PurePath, seed: str) -> str:
    return hashlib.sha256(f"{seed} {path.as_posix()}".encode()).hexdigest()


def seed_from(environment: Mapping[str, str]) -> str:
    """The seed that is named, or the day."""
    return environment.get(VARIABLE) or datetime.now(UTC).date().isoformat()


def replay(seed: str, words: Iterable[str]) -> str:
    """The command that runs the same in the same order."""
    return f"{VARIABLE}={shlex.quote(seed)} {shlex.join(['pytest', *words])}"


def number_of(seed: str) -> int:
    """For what is chosen by turns: one more from day to day; any other seed has a number, too."""
    try:
        return date.fromisoformat(seed).toordinal()
    except ValueError:
        return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
