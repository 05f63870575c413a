"""What becomes of single watch events on their way: held, dropped, told twice.

A held event holds everything behind it on its watch, as a slow server does: a watch never overtakes
itself. A dropped one is missed by nobody: only a list shows the difference.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Told(NamedTuple):
    """One event as the API server tells it."""

    type: str
    object: dict[str, Any]


Which = Callable[[Told], bool]


def each(_: Told) -> bool:
    """All of them."""
    return True


def named(name: str) -> Which:
    """Those of one object."""
    return lambda told: told.object["metadata"]["name"] == name


def all_but_the_first(number: int) -> Which:
    """What comes after so many."""
    passed = itertools.count()
    return lambda _: next(passed) >= number


@dataclass
class Hold:
    """Nothing passes from the first such event on, until it is released."""

    kind: str
    which: Which
    open: asyncio.Event = field(default_factory=asyncio.Event)
    caught: int = 0

    def release(self) -> None:
        self.open.set()


@dataclass
class Drop:
    """So many such events are never told."""

    kind: str
    which: Which
    left: int

    def end(self) -> None:
        self.left = 0


class EventFaults:
    """The faults of one proxy; events are only looked into while there are any."""

    def __init__(self) -> None:
        self.dropped: list[Told] = []
        self.doubled = 0
        self._holds: list[Hold] = []
        self._drops: list[Drop] = []
        self._doubles = False

    def hold(self, kind: str, which: Which = each) -> Hold:
        """From now on; kinds are called by their plural."""
        made = Hold(kind, which)
        self._holds.append(made)
        return made

    def drop(self, kind: str, which: Which = each, *, times: int = 1) -> Drop:
        """The next ones."""
        made = Drop(kind, which, times)
        self._drops.append(made)
        return made

    def double(self) -> None:
        """Every event from now on."""
        self._doubles = True

    async def treated(self, kind: str, line: bytes) -> tuple[bytes, ...]:
        """The lines that are to be passed on for one that came, when their time has come."""
        if not (self._holds or self._drops or self._doubles):
            return (line,)
        told = Told(**json.loads(line))
        if told.type not in {"ADDED", "MODIFIED", "DELETED"}:
            return (line,)
        await self._held(kind, told)
        if self._is_dropped(kind, told):
            return ()
        self.doubled += self._doubles
        return (line, line) if self._doubles else (line,)

    async def _held(self, kind: str, told: Told) -> None:
        for hold in self._holds:
            if hold.kind == kind and not hold.open.is_set() and hold.which(told):
                hold.caught += 1
                await hold.open.wait()

    def _is_dropped(self, kind: str, told: Told) -> bool:
        for drop in self._drops:
            if drop.kind == kind and drop.left and drop.which(told):
                drop.left -= 1
                self.dropped.append(told)
                return True
        return False
