"""Runs one task for each node class, for as long as the class exists.

A cloud that is slow or doesn't answer must not delay another one, so they aren't asked in sequence.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from typing import Any

    from reconciler.providers.port import ClassKey


@dataclass(kw_only=True)
class EachClass:
    """The tasks of all node classes."""

    node_classes: Callable[[], Iterable[ClassKey]]
    work: Callable[[ClassKey], Coroutine[Any, Any, None]]
    """The task of one class; it runs until cancelled."""

    def __post_init__(self) -> None:
        self._noticed = asyncio.Event()
        self._running: dict[ClassKey, asyncio.Task[None]] = {}

    def notice(self) -> None:
        """Note that a class may have been created or deleted."""
        self._noticed.set()

    async def run(self) -> None:
        """Start and end tasks as classes are created and deleted, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._follow(tasks)
                await self._noticed.wait()
                self._noticed.clear()

    def _follow(self, tasks: asyncio.TaskGroup) -> None:
        known = set(self.node_classes())
        for gone in self._running.keys() - known:
            # Not awaited here: a cloud that hangs would delay the tasks of all other classes.
            self._running.pop(gone).cancel()
        for new in sorted(known - self._running.keys()):
            name = f"{self.work.__qualname__} of {new.kind} {new.name}"
            self._running[new] = tasks.create_task(self.work(new), name=name)
