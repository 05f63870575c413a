"""One task for each node class, for as long as there is the class.

What one cloud is slow to say, or doesn't say at all, must not keep another one waiting; so nothing
that is asked of clouds is asked in a row.
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
    """What is done for one of them, until it is cancelled."""

    def __post_init__(self) -> None:
        self._noticed = asyncio.Event()
        self._running: dict[ClassKey, asyncio.Task[None]] = {}

    def notice(self) -> None:
        """A class may have come or gone."""
        self._noticed.set()

    async def run(self) -> None:
        """Begin and end tasks as classes come and go, until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._follow(tasks)
                await self._noticed.wait()
                self._noticed.clear()

    def _follow(self, tasks: asyncio.TaskGroup) -> None:
        known = set(self.node_classes())
        for gone in self._running.keys() - known:
            self._running.pop(gone).cancel()
        for new in sorted(known - self._running.keys()):
            name = f"{self.work.__qualname__} of {new.kind} {new.name}"
            self._running[new] = tasks.create_task(self.work(new), name=name)
