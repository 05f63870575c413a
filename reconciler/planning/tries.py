"""How often a pod without a place is planned again: ever less often, and in the end not at all.

The first tries are a second apart. From the fifth on the pause doubles each time. At five minutes
the pod is in back-off and takes part in no plan, until something changes that it may depend on, or
until an offer that was out of stock proves to be available again.

Where a pod with rules about other pods, or with volumes, fits depends on all nodes and pods, which
change all the time. So these changes aren't followed: such a pod is planned again every five
minutes, which is also how often the scheduler tries it.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

import msgspec

from reconciler.buying.limits import SetLimit

PATIENCE = 5
"""Tries in a row before a pod waits longer than a second."""
PAUSE = 1.0
"""Seconds between the first tries, and the least that two counted ones are apart."""
CEILING = 300.0
"""A pause of so many seconds is back-off."""


class PodTries(StrEnum):
    """How a pod stands with planning."""

    NORMAL = "Normal"
    WAITING = "Waiting"
    BACK_OFF = "BackOff"


class LeftOutCause(StrEnum):
    """Why a plan leaves a pod out, as its event is called."""

    POOL_NOT_FOUND = "PoolNotFound"
    """None of the pools that it may use exists."""
    NO_PLACE = "NoPlace"
    """No offer of its pools has room for it."""
    LIMITED = "Limited"
    """The offers with room for it are used up, or limits of its pools exclude them."""
    OVERTAKEN = "Overtaken"
    """Its place was gone when it was to be bought."""


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """Plans in a row that left a pod out."""

    count: int
    counted_at: float
    """The time in monotonic seconds."""
    cause: LeftOutCause = LeftOutCause.NO_PLACE
    reason: str = ""
    limit: SetLimit | None = None
    """The limit that leaves it out, if a person has set it."""
    looks_at_others: bool = False
    """Whether other pods, nodes or volumes may let it have a place."""

    @property
    def rests(self) -> bool:
        """Whether it has reached back-off."""
        return pause_after_tries(self.count) >= CEILING

    @property
    def next_at(self) -> float:
        """When it takes part in a plan again.

        In back-off that is never, by time alone, unless it looks at others.
        """
        return self.counted_at + pause_after_tries(self.count)

    def standing(self, now: float) -> PodTries:
        """How the pod stands at a monotonic second."""
        if self.rests and not self.looks_at_others:
            return PodTries.BACK_OFF
        if now >= self.next_at:
            return PodTries.NORMAL
        return PodTries.BACK_OFF if self.rests else PodTries.WAITING

    def returns_at(self, now: float) -> float | None:
        """When time alone lets it take part in a plan again; None if it may now, or never."""
        if now >= self.next_at or (self.rests and not self.looks_at_others):
            return None
        return self.next_at


# Asked several times in each pass for each pod in back-off, of which there may be thousands.
@lru_cache(maxsize=1024)
def pause_after_tries(count: int, *, patience: int = PATIENCE) -> float:
    """Seconds until the next try, after so many in a row."""
    if count < patience:
        return PAUSE
    # Beyond 2^9 it makes no difference, and the power would outgrow any number.
    return min(CEILING, 2.0 ** min(count - patience + 1, 9))


def after_left_out(
    before: Try | None,
    now: float,
    reason: str,
    *,
    cause: LeftOutCause = LeftOutCause.NO_PLACE,
    limit: SetLimit | None = None,
    looks_at_others: bool = False,
) -> Try:
    """One more plan has left a pod out; two within a second count as one."""
    again = Try(
        count=1 if before is None else before.count + 1,
        counted_at=now,
        cause=cause,
        reason=reason,
        limit=limit,
        looks_at_others=looks_at_others,
    )
    if before is not None and now < before.counted_at + PAUSE:
        return msgspec.structs.replace(again, count=before.count, counted_at=before.counted_at)
    return again


def after_overtaken(before: Try | None, now: float) -> Try:
    """A plan had a place for the pod that is gone by now: tried again soon, and not counted."""
    count = 0 if before is None else before.count
    reason = "its planned place was gone before it could be bought"
    return Try(count=count, counted_at=now, cause=LeftOutCause.OVERTAKEN, reason=reason)
