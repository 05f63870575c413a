"""A value that is read again after a while, and what ends it sooner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.providers.hetzner.last_good import LastGood
from tests.reconciler.build import at

if TYPE_CHECKING:
    from growth.instant import Instant


class Rates:
    """A value whose readings are counted, and what happens in the middle of the first one."""

    def __init__(self, *, expire_within: float) -> None:
        self.seconds = 0.0
        self.known = LastGood(self._read, now=self._now, lasts=600.0)
        self._expire_within = expire_within
        self._readings = 0

    def _now(self) -> Instant:
        return at(self.seconds)

    async def _read(self) -> int:
        self._readings += 1
        if self._readings == 1:
            self.known.expire_within(self._expire_within)
        return self._readings

    async def at(self, seconds: float) -> int:
        self.seconds = seconds
        return await self.known.value()


async def test_a_value_that_expires_while_it_is_read_is_read_again_at_once() -> None:
    rates = Rates(expire_within=0.0)
    assert await rates.at(0) == 1
    assert await rates.at(1) == 2
    assert await rates.at(300) == 2


async def test_a_value_that_is_to_expire_soon_while_it_is_read_lasts_until_then() -> None:
    rates = Rates(expire_within=30.0)
    assert [await rates.at(second) for second in (0, 29, 30, 629, 630)] == [1, 1, 2, 2, 3]
