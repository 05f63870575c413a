"""The front's copy of the demand book.

It numbers the changes itself, so its readers can continue while the same front runs. If the book is
told afresh, readers get only the differences.
"""

from __future__ import annotations

import secrets
from types import MappingProxyType
from typing import TYPE_CHECKING

from extender.news import BookNews
from growth.demand.history import EntryChange, EntryChangeKind, History

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.demand.entry import DemandEntry


class MirroredBook:
    """Entries by uid, and their last changes."""

    def __init__(self) -> None:
        self._entries: dict[str, DemandEntry] = {}
        self._history = History(instance=secrets.token_hex(8))

    @property
    def entries(self) -> Mapping[str, DemandEntry]:
        """All entries by uid, as a live view."""
        return MappingProxyType(self._entries)

    @property
    def position(self) -> str:
        """The current position; each change moves it."""
        return self._history.position

    def after(self, position: str) -> tuple[EntryChange, ...] | None:
        """The changes since a position; None if it is too old or of another front."""
        return self._history.after(position)

    def replace(self, entries: Mapping[str, DemandEntry]) -> None:
        """Make these the entries of the book."""
        for uid in [uid for uid in self._entries if uid not in entries]:
            self.apply(EntryChange(EntryChangeKind.DELETED, self._entries[uid]))
        for uid, entry in entries.items():
            old = self._entries.get(uid)
            if old is None:
                self.apply(EntryChange(EntryChangeKind.ADDED, entry))
            elif old != entry:
                self.apply(EntryChange(EntryChangeKind.MODIFIED, entry))

    def apply(self, change: EntryChange) -> None:
        """Handle one change."""
        apply_to(self._entries, change)
        self._history.add(change)


class MirroredDemand:
    """The copy, and a way to wait for changes. Create it inside a running event loop."""

    def __init__(self) -> None:
        self.book = MirroredBook()
        self.is_complete = False
        self._news = BookNews(self.book)
        self._afresh: dict[str, DemandEntry] | None = None
        """What has been told since the book is told afresh; None if it isn't."""

    def begin_afresh(self) -> None:
        """Note that the whole book follows."""
        self._afresh = {}

    def follow(self, changes: Sequence[EntryChange]) -> None:
        """Handle changes."""
        for change in changes:
            if self._afresh is None:
                self.book.apply(change)
            else:
                apply_to(self._afresh, change)

    def complete(self) -> None:
        """Note that everything has been told, and wake the readers."""
        if self._afresh is not None:
            self.book.replace(self._afresh)
            self._afresh = None
        self.is_complete = True
        self._news.tell()

    async def news(self, position: str, *, within: float) -> None:
        """Wait until the book has changed since a position, but no longer than `within`."""
        await self._news.after(position, within=within)


def apply_to(entries: dict[str, DemandEntry], change: EntryChange) -> None:
    """Handle one change of these entries."""
    if change.kind is EntryChangeKind.DELETED:
        entries.pop(change.entry.uid, None)
    else:
        entries[change.entry.uid] = change.entry
