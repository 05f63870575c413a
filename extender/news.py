"""Wakes the readers of a book when its position has changed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from growth.demand.wire import ToldBook


class BookNews:
    """The news of one book. Create it inside a running event loop."""

    def __init__(self, book: ToldBook) -> None:
        self._book = book
        self._told = book.position
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """Wake all readers, if the book has changed since the last call."""
        if self._book.position != self._told:
            self._told = self._book.position
            self._changed.set()
            # Readers that are just waking hold the old one; this is for the change after it.
            self._changed = asyncio.Event()

    async def after(self, position: str, *, within: float) -> None:
        """Wait until the book has changed since a position, but no longer than `within`."""
        if self._book.position != position:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._changed.wait()
