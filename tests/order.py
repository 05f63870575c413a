"""The order of test files: the longest first, and the others as a seed draws them.

Files are given to the processes of a run in their order. The run would have to wait for a long file
that starts last, so those come first. All others are drawn, so that a test which passes only after
another one is found. The seed is the day unless one is given, so the runs of a day are alike.

Each file has its own place in a draw, whichever others run with it: a few files come in the same
order as in the whole run. The files of a folder stay together, because they share clusters.
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
LONGEST: Final = frozenset(
    {
        *("clouds", "differential", "extender", "faults", "fleet", "kwok", "machines", "manifests"),
        *("removal", "simulation", "stories", "thread", "trust", "webhooks"),
    }
)
"""Folders with files that take long."""
LAST: Final = frozenset({"test_without_growth"})
"""Files that don't change the installation that others of their folder share."""


class Turn(IntEnum):
    """What comes first."""

    LONG = 0
    USUAL = 1
    LAST = 2


def turn_of(file: PurePath) -> Turn:
    """The group in which a file is ordered."""
    if file.stem in LAST:
        return Turn.LAST
    return Turn.LONG if file.parent.name in LONGEST else Turn.USUAL


def place_of(file: PurePath, *, seed: str) -> tuple[Turn, str, str]:
    """The place of a file in a draw, to sort by."""
    return turn_of(file), _drawn(file.parent, seed), _drawn(file, seed)


def _drawn(path: PurePath, seed: str) -> str:
    return hashlib.sha256(f"{seed} {path.as_posix()}".encode()).hexdigest()


def seed_from(environment: Mapping[str, str]) -> str:
    """The given seed, or the day."""
    return environment.get(VARIABLE) or datetime.now(UTC).date().isoformat()


def replay(seed: str, words: Iterable[str]) -> str:
    """The command that runs the same tests in the same order."""
    return f"{VARIABLE}={shlex.quote(seed)} {shlex.join(['pytest', *words])}"


def number_of(seed: str) -> int:
    """A number for choosing in turn: one more each day; any other seed has a number too."""
    try:
        return date.fromisoformat(seed).toordinal()
    except ValueError:
        return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
