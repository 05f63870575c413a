"""When a call may be made: others share the rate limit, and deletes must always get through.

The limit is a bucket for the whole project (3,600 calls per hour, refilled evenly). The cloud
controller manager and the CSI driver use it too, so an autoscaler that empties it can take down the
cluster. Therefore creates stop first, then listings, each while a good part is left for others.
Deletes continue, because servers cost money. Besides the remaining calls in the headers, growth
counts its own calls, and never uses more than four fifths of the limit.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from growth.foreign_text import parse_count, parse_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

OUR_SHARE = 0.8
HOUR = 3600.0


class Purpose(Enum):
    """What a call is for, and how much of the limit it leaves to others and to urgent calls."""

    CREATE = (0.30, 0.10)
    LIST = (0.25, 0.05)
    DELETE = (0.0, 0.0)

    @property
    def left_to_others(self) -> float:
        """How much must remain in the project's bucket, as a fraction of the limit."""
        return self.value[0]

    @property
    def left_to_urgent(self) -> float:
        """How much must remain of our own share, as a fraction of the limit."""
        return self.value[1]


class RateBucket(msgspec.Struct, frozen=True, kw_only=True):
    """The bucket as last seen, minus the calls since."""

    limit: int = 3600
    left: float = 3600.0
    ours: float = 3600.0 * OUR_SHARE
    """The remaining calls of our own share."""
    at: float = 0.0
    """The monotonic second for which this holds."""
    full_at: float = 0.0
    """When the project's bucket is full again; no wait needs to be longer."""

    @property
    def refill(self) -> float:
        """Calls that are added per second."""
        return self.limit / HOUR

    def later(self, at: float) -> RateBucket:
        """The bucket at this second, without calls in between."""
        gained = max(0.0, at - self.at) * self.refill
        return msgspec.structs.replace(
            self,
            at=max(at, self.at),
            left=min(float(self.limit), self.left + gained),
            ours=min(self.limit * OUR_SHARE, self.ours + gained * OUR_SHARE),
        )

    def wait(self, purpose: Purpose) -> float:
        """Seconds until a call for this purpose may be made; 0 if it may now."""
        # The 1 is the call itself.
        lacking = purpose.left_to_others * self.limit + 1 - self.left
        ours = purpose.left_to_urgent * self.limit + 1 - self.ours
        # If Hetzner's own time for a full bucket is sooner than an even refill, it wins.
        full = max(0.0, self.full_at - self.at) if self.full_at else lacking / self.refill
        return max(0.0, min(lacking / self.refill, full), ours / (self.refill * OUR_SHARE))

    def drawn(self) -> RateBucket:
        """The bucket after one more call."""
        return msgspec.structs.replace(self, left=self.left - 1, ours=self.ours - 1)


def after_answer(
    standing: RateBucket, headers: Mapping[str, str], *, wall: float, under_way: int
) -> RateBucket:
    """The bucket after an answer.

    The headers may not count calls that are still under way, so those are subtracted.
    """
    try:
        limit = parse_count(headers["RateLimit-Limit"])
        left = parse_count(headers["RateLimit-Remaining"])
        reset = parse_seconds(headers["RateLimit-Reset"])
    except (KeyError, ValueError):
        # No answer came, or it came from a proxy.
        return standing
    if limit <= 0:
        return standing
    return msgspec.structs.replace(
        standing,
        limit=limit,
        left=float(left - under_way),
        # The limit may change, and our share in proportion.
        ours=standing.ours * limit / standing.limit,
        full_at=standing.at + max(0.0, reset - wall),
    )


def exhausted(standing: RateBucket) -> RateBucket:
    """The bucket after Hetzner has refused a call because of the rate limit."""
    return msgspec.structs.replace(standing, left=min(standing.left, 0.0))
