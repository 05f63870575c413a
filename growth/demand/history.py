"""The last changes of the book, numbered, so that a reader can continue after a disconnect.

The numbers are valid for one book only, so a position includes the instance. After a restart of the
server, or if the reader was away for longer than the history goes back, it reads everything again.
"""

from __future__ import annotations

import enum
import re
from typing import Final

import msgspec

from growth.demand.entry import DemandEntry

MOST: Final = 20_000
"""The number of changes that are kept: four for each pod of a burst of five thousand."""
# Readers send it, and `int` fails for a number of thousands of digits.
_NUMBER: Final = re.compile("[0-9]{1,19}")


class EntryChangeKind(enum.Enum):
    """What happened to an entry."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class EntryChange(msgspec.Struct, frozen=True, gc=False):
    """The new entry; for a deleted one, the old entry with the pod's last version."""

    kind: EntryChangeKind
    entry: DemandEntry


class History:
    """Changes by number."""

    def __init__(self, *, instance: str, most: int = MOST) -> None:
        self._instance = instance
        self._most = most
        self._changes: dict[int, EntryChange] = {}
        self._last = 0

    def add(self, change: EntryChange) -> None:
        """Add a change."""
        self._last += 1
        self._changes[self._last] = change
        self._changes.pop(self._last - self._most, None)

    @property
    def position(self) -> str:
        """The position after the last change."""
        return f"{self._instance}.{self._last}"

    def after(self, position: str) -> tuple[EntryChange, ...] | None:
        """The changes since a position; None if it isn't known, and the reader must start again."""
        instance, _, number = position.rpartition(".")
        if instance != self._instance or not _NUMBER.fullmatch(number):
            return None
        seen = int(number)
        if not self._last - len(self._changes) <= seen <= self._last:
            return None
        return tuple(self._changes[each] for each in range(seen + 1, self._last + 1))
