"""Waiting for what is missing goes on while the API server is away, and no longer than it may."""

from __future__ import annotations

import pytest

from growth.errors import GiveUp
from growth.installation.awaiting import until_nothing_is_missing
from growth.kube.errors import Denied, Overloaded, Unreachable

pytestmark = pytest.mark.looptime


class Looks:
    """What comes of one look after the other; the last one stays."""

    def __init__(self, *ends: list[str] | Exception) -> None:
        self._ends = list(ends)

    async def look(self) -> list[str]:
        end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        if isinstance(end, Exception):
            raise end
        return end


@pytest.mark.parametrize("away", [Unreachable("connection refused"), Overloaded("starting")])
async def test_an_api_server_that_restarts_ends_no_wait(away: Exception) -> None:
    looks = Looks(["node one: still exists"], away, away, [])
    await until_nothing_is_missing(looks.look, seconds=900)


async def test_an_api_server_that_stays_away_is_what_is_missing_at_the_end() -> None:
    looks = Looks(["node one: still exists"], Unreachable("connection refused"))
    with pytest.raises(GiveUp, match="connection refused"):
        await until_nothing_is_missing(looks.look, seconds=900)


async def test_what_may_not_be_asked_is_told_at_once() -> None:
    looks = Looks(Denied("may not list nodes"))
    with pytest.raises(Denied):
        await until_nothing_is_missing(looks.look, seconds=900)
