"""When a call may be made: others live on the same limit, and deletes must always get through.

The limit is a bucket for the whole project (3,600 calls an hour, refilled evenly); the cloud
controller and the storage driver draw on it too, and an autoscaler that empties it takes a cluster
down with it. So purchases stop first, then listings, each while a good part is left for others;
deletes go on, since every minute of a server is paid for. Beside what the headers say is left, we
keep count of our own share, of which four fifths of the limit is all that we ever use.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

OUR_SHARE = 0.8
HOUR = 3600.0


class Purpose(Enum):
    """What a call is for: the parts of the limit that it leaves to others, and to more urgent."""

    CREATE = (0.30, 0.10)
    LIST = (0.25, 0.05)
    DELETE = (0.0, 0.0)

    @property
    def left_to_others(self) -> float:
        """What has to be left in the project's bucket, as a part of the limit."""
        return self.value[0]

    @property
    def left_to_urgent(self) -> float:
        """What has to be left in our own share, as a part of the limit."""
        return self.value[1]


class RateBucket(msgspec.Struct, frozen=True, kw_only=True):
    """The bucket as it was last seen, and what we have drawn from it since."""

    limit: int = 3600
    left: float = 3600.0
    ours: float = 3600.0 * OUR_SHARE
    """What is left of our own share."""
    at: float = 0.0
    """The monotonic second that this is about."""
    full_at: float = 0.0
    """When the project's bucket is full again, so that no wait need be longer."""

    @property
    def refill(self) -> float:
        """Calls that come back in a second."""
        return self.limit / HOUR

    def later(self, at: float) -> RateBucket:
        """The standing at this second, if nobody calls in between."""
        gained = max(0.0, at - self.at) * self.refill
        return msgspec.structs.replace(
            self,
            at=max(at, self.at),
            left=min(float(self.limit), self.left + gained),
            ours=min(self.limit * OUR_SHARE, self.ours + gained * OUR_SHARE),
        )

    def wait(self, purpose: Purpose) -> float:
        """Seconds until a call for this purpose may be made; nothing if it may now."""
        lacking = purpose.left_to_others * self.limit + 1 - self.left
        ours = purpose.left_to_urgent * self.limit + 1 - self.ours
        full = max(0.0, self.full_at - self.at) if self.full_at else lacking / self.refill
        return max(0.0, min(lacking / self.refill, full), ours / (self.refill * OUR_SHARE))

    def drawn(self) -> RateBucket:
        """After one more call was made."""
        return msgspec.structs.replace(self, left=self.left - 1, ours=self.ours - 1)


def after_answer(
    standing: RateBucket, headers: Mapping[str, str], *, wall: float, under_way: int
) -> RateBucket:
    """The standing after an answer came; other calls of ours may not be counted in it yet."""
    try:
        limit = int(headers["RateLimit-Limit"])
        left = int(headers["RateLimit-Remaining"])
        reset = float(headers["RateLimit-Reset"])
    except (KeyError, ValueError):
        return standing
    if limit <= 0:
        return standing
    return msgspec.structs.replace(
        standing,
        limit=limit,
        left=float(left - under_way),
        ours=standing.ours * limit / standing.limit,
        full_at=standing.at + max(0.0, reset - wall),
    )


def exhausted(standing: RateBucket) -> RateBucket:
    """The standing after a call was refused for its rate."""
    return msgspec.structs.replace(standing, left=min(standing.left, 0.0))
