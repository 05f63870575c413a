"""The catalogue of each node class, and whether anything can be bought with the class.

The provider is asked about a class when it is created, when its spec changes, when a purchase was
refused because of it, and every ten minutes. While it is blocked, it is asked more often, because
people are probably fixing it. If the provider doesn't answer, the last answer stays in use: prices
of an hour ago are better than a pool that buys nothing.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from growth.errors import GrowthError
from reconciler.providers.port import Checked, FailureClass, Offering
from reconciler.seeing.each_class import EachClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reconciler.providers.port import ClassKey, Provider

_log = structlog.get_logger(__name__)

ASKING_LIMIT: Final = 60.0
"""Seconds to wait for an answer."""
FRESH_FOR: Final = 600.0
"""Seconds for which an answer is used."""
SHORTEST: Final = 5.0
"""The shortest time in seconds between two questions about the same class."""
BLOCKED_FOR: Final = {FailureClass.TEMPLATE: 60.0, FailureClass.FATAL: 15.0}
"""Seconds until a blocked class is asked about again: a missing Secret or a wrong token costs one
API call, a wrong name four."""
FIRST_ANSWERS_WITHIN: Final = 3.0
"""Seconds that a new leader waits for first answers; a silent cloud must not stop the others."""
UNKNOWN_FOR: Final = 30.0
"""Seconds until a question without an answer is repeated."""


class NodeClassMarket(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one node class; None if nothing is known yet."""

    offerings: tuple[Offering, ...] | None = None
    """The last catalogue."""
    checked: Checked | None = None


@dataclass(kw_only=True)
class Markets:
    """The catalogues and checks of all node classes, kept current while this process leads."""

    node_classes: Callable[[], Iterable[ClassKey]]
    provider_of: Callable[[ClassKey], Provider | None]
    generation_of: Callable[[ClassKey], int | None]
    """The current generation of a class."""
    learnt: Callable[[ClassKey, NodeClassMarket], None]
    """Called with each new answer about a class."""
    known: dict[ClassKey, NodeClassMarket] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._alarms: dict[ClassKey, asyncio.Event] = {}
        self._asked: set[ClassKey] = set()
        self._answer = asyncio.Event()
        self._each = EachClass(node_classes=self.node_classes, work=self._follow)

    def notice(self) -> None:
        """Ask at once about each class whose spec has changed."""
        self._each.notice()
        for key, alarm in self._alarms.items():
            market = self.known.get(key, NodeClassMarket())
            asked_of = None if market.checked is None else market.checked.generation
            # A class without an answer is being asked about already, or is due soon.
            if asked_of is not None and asked_of != self.generation_of(key):
                alarm.set()

    def doubt(self) -> None:
        """Ask again soon, because a purchase was refused or a token was replaced."""
        for alarm in self._alarms.values():
            alarm.set()

    async def run(self) -> None:
        """Ask about each class again and again until cancelled."""
        await self._each.run()

    async def first_answers(self) -> None:
        """Wait until there is an answer about each existing class, but not for long.

        Otherwise, the first plan would report for each pod that nothing can be bought for it.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_ANSWERS_WITHIN):
                while not self._asked.issuperset(self.node_classes()):
                    self._answer.clear()
                    await self._answer.wait()

    async def _follow(self, key: ClassKey) -> None:
        alarm = self._alarms[key] = asyncio.Event()
        try:
            while True:
                alarm.clear()
                pause = await self._ask(key)
                self._asked.add(key)
                self._answer.set()
                # An alarm during this pause is handled right after it.
                await asyncio.sleep(SHORTEST)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause - SHORTEST):
                        await alarm.wait()
        finally:
            self._alarms.pop(key)
            self._asked.discard(key)
            self.known.pop(key, None)

    async def _ask(self, key: ClassKey) -> float:
        """Ask about a class; returns for how long the answer is used."""
        provider = self.provider_of(key)
        if provider is None:
            return UNKNOWN_FOR
        try:
            async with asyncio.timeout(ASKING_LIMIT):
                return await self._answered(key, provider)
        except (TimeoutError, GrowthError) as error:
            reason = str(error) or f"no answer within {ASKING_LIMIT:.0f} s"
            _log.warning("no answer about a node class", **_named(key), reason=reason)
            return UNKNOWN_FOR
        except Exception:  # noqa: BLE001 - the loop guards its next round
            # What one cloud or one catalogue says must not end the tasks of the others.
            _log.exception("an answer about a node class can't be read", **_named(key))
            return UNKNOWN_FOR

    async def _answered(self, key: ClassKey, provider: Provider) -> float:
        before = self.known.get(key, NodeClassMarket())
        checked = await provider.check()
        # Before the catalogue is read, because a blocked class must be known at once.
        self._learn(key, msgspec.structs.replace(before, checked=checked))
        if checked.failure is not None:
            if before.checked is None or before.checked.problems != checked.problems:
                _log.warning("a node class is blocked", **_named(key), problems=checked.problems)
            return BLOCKED_FOR[checked.failure]
        offerings = await provider.offerings()
        # An equal catalogue stays the same object: for a new one all offers are made anew, and pods
        # in back-off are planned again.
        if offerings != before.offerings:
            _log.info("new catalogue of a node class", **_named(key), offerings=len(offerings))
            self._learn(key, NodeClassMarket(offerings=offerings, checked=checked))
        return FRESH_FOR

    def _learn(self, key: ClassKey, market: NodeClassMarket) -> None:
        self.known[key] = market
        self.learnt(key, market)


def _named(key: ClassKey) -> dict[str, str]:
    return {"kind": key.kind, "node_class": key.name}
