"""The limit on calls: a bucket that refills with the project's clock, shared by all tokens."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Bucket:
    """`limit` calls an hour; what isn't used fills it up again."""

    limit: int = 3600
    left: float = field(default=3600.0)
    lowest: float = field(default=3600.0)
    """How empty it has ever been."""
    filled_at: float = 0.0
    hour: float = 3600.0
    """Seconds that an hour takes here, for who can't wait for a real one."""
    in_lower_case: bool = False
    """Whether the names of headers are, as a proxy in between writes them."""

    def shrink_to(self, limit: int, *, left: float | None = None) -> None:
        """Another limit, as some accounts have it; full unless said otherwise."""
        self.limit = limit
        self.left = self.lowest = limit if left is None else left

    def take(self, now: float) -> bool:
        """Whether one more call is allowed now; if so it is counted."""
        self.left = min(self.limit, self.left + (now - self.filled_at) * self.limit / self.hour)
        self.filled_at = now
        if self.left < 1:
            return False
        self.left -= 1
        self.lowest = min(self.lowest, self.left)
        return True

    def headers(self, wall: float) -> dict[str, str]:
        """As every answer carries them; the reset is when the bucket is full again."""
        seconds = (self.limit - self.left) * self.hour / self.limit
        headers = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(int(self.left)),
            "RateLimit-Reset": str(int(wall + seconds)),
        }
        if self.in_lower_case:
            return {name.lower(): value for name, value in headers.items()}
        return headers
