"""All caches of one process, each kept by a task of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.kube.cache.reflector import Reflector


class Caches:
    """Reflectors by the names of their kinds."""

    def __init__(self, reflectors: Mapping[str, Reflector[Any]]) -> None:
        self.reflectors = reflectors

    async def run(self) -> None:
        """Keep every cache current until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for name, reflector in self.reflectors.items():
                tasks.create_task(reflector.run(), name=f"watch {name}")

    async def complete(self) -> None:
        """Wait until each cache has been complete once."""
        for reflector in self.reflectors.values():
            await reflector.synced()

    @property
    def incomplete(self) -> list[str]:
        """The kinds of which no complete list was read yet."""
        return [name for name, each in self.reflectors.items() if not each.health.is_complete]
