"""The last changes of the book, numbered, so that a reader can go on where it was cut off.

The numbers mean something to this book alone: a position names the instance too, and a server that
was started anew, or a reader that was away for longer than the history goes back, begins anew.
"""

from __future__ import annotations

import enum
import re
from typing import Final

import msgspec

from growth.demand.entry import DemandEntry

MOST: Final = 20_000
"""Changes that are kept: four for each pod of a burst of five thousand."""
_NUMBER: Final = re.compile("[0-9]{1,19}")


class EntryChangeKind(enum.Enum):
    """What has become of an entry."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class EntryChange(msgspec.Struct, frozen=True, gc=False):
    """One entry as it is from now on; of a deleted one, as it was, with the pod's last version."""

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
        """Something has changed."""
        self._last += 1
        self._changes[self._last] = change
        self._changes.pop(self._last - self._most, None)

    @property
    def position(self) -> str:
        """The place behind the last change."""
        return f"{self._instance}.{self._last}"

    def after(self, position: str) -> tuple[EntryChange, ...] | None:
        """What has changed since; None, if that can't be told: the reader has to begin anew."""
        instance, _, number = position.rpartition(".")
        if instance != self._instance or not _NUMBER.fullmatch(number):
            return None
        seen = int(number)
        if not self._last - len(self._changes) <= seen <= self._last:
            return None
        return tuple(self._changes[each] for each in range(seen + 1, self._last + 1))
