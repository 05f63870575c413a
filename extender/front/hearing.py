"""Reads what the front is told, until the pipe ends."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, NoReturn, assert_never

from extender.front.messages import (
    Afresh,
    Changes,
    Complete,
    FrontMessage,
    ToldCondition,
    ToldFigures,
    read_message,
)

if TYPE_CHECKING:
    from extender.front.mirror import MirroredDemand
    from extender.front.view import FrontHealth, ToldMetrics


async def opened_pipe() -> asyncio.StreamReader:
    """The pipe from the process that started this one: its standard input."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(sys.stdin.fileno(), "rb", 0)
    )
    return reader


class FrontHearing:
    """What the front knows."""

    def __init__(
        self, *, demand: MirroredDemand, health: FrontHealth, metrics: ToldMetrics
    ) -> None:
        self._demand = demand
        self._health = health
        self._metrics = metrics

    async def hear_first(self, reader: asyncio.StreamReader) -> None:
        """Take in health and metrics once, so that the first answer knows both."""
        while not isinstance(await self._hear_one(reader), ToldFigures):
            pass

    async def hear(self, reader: asyncio.StreamReader) -> NoReturn:
        """Take in every message; raises `IncompleteReadError` when the other process ends."""
        while True:
            await self._hear_one(reader)

    async def _hear_one(self, reader: asyncio.StreamReader) -> FrontMessage:
        message = await read_message(reader)
        self._health.beat()
        self._take(message)
        return message

    def _take(self, message: FrontMessage) -> None:
        match message:
            case Afresh():
                self._demand.begin_afresh()
            case Changes(changes=changes):
                self._demand.follow(changes)
            case Complete():
                self._demand.complete()
            case ToldCondition():
                self._health.hear(message)
            case ToldFigures(families=families):
                self._metrics.hear(families)
            case _:
                assert_never(message)
