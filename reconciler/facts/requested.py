"""Every machine that was asked for, whichever room asked: the one place that puts this together.

A request is written, and the cache shows it some milliseconds later. Until then only the memory of
the room that decided on it knows of it. Limits, promised places and plans are about all machines,
so they ask here and never one room alone: what one room forgets, another would buy again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.noderequest import COMING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.core.world import World

HOUR: Final = 3600.0
UNCONFIRMED: Final = 60.0
"""Seconds for which a request that the cache doesn't show counts as bought, while its creates
fail."""


class Bought(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that was asked for, for the brake on machines an hour."""

    pool: str
    at: float
    """The time in monotonic seconds."""


def is_lost(decided: Bought, now: Instant) -> bool:
    """Whether the creates of a machine that was decided on have failed for too long."""
    return now.monotonic - decided.at > UNCONFIRMED


def unconfirmed(world: World) -> Mapping[str, NodeRequest]:
    """Requests that were decided on and that the cache doesn't show yet, by name."""
    return {**world.ledger.replacement.unconfirmed, **world.ledger.planning.unconfirmed}


def all_requests(world: World) -> Mapping[str, NodeRequest]:
    """All requests by name, also those that the cache doesn't show yet."""
    # What the cache shows is newer than what was decided.
    return {**unconfirmed(world), **world.requests}


def is_coming(name: str, world: World) -> bool:
    """Whether the machine of this name is on its way: the rule for its request deals with it."""
    request = world.requests.get(name)
    return request is not None and request.status.phase in COMING


def bought_lately(world: World, now: Instant) -> Mapping[str, Bought]:
    """The machines that were bought within the last hour, by the name of their request."""
    known = {**world.ledger.replacement.bought, **world.ledger.planning.bought}
    # A room clears its memory in its own turn, which may come after the room that asks.
    return still_of_the_hour(known, now)


def still_of_the_hour(bought: Mapping[str, Bought], now: Instant) -> Mapping[str, Bought]:
    """The machines that were bought within the last hour."""
    return {name: each for name, each in bought.items() if each.at + HOUR > now.monotonic}
