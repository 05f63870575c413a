"""The scale lock: after machines were asked for, nothing is done until they are there.

Without it, a pool would buy again and again while its machines boot. The lock holds for a minimum
period, whatever happens; then until a run has found what was asked for; and never longer than its
timeout. The run that finds it does nothing yet.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec


class LockTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How long the lock is held."""

    period: timedelta
    """At least, whatever happens."""
    timeout: timedelta
    """At most."""

    @property
    def are_possible(self) -> bool:
        """Whether there is time between them to see the machines."""
        return self.timeout > self.period


class ScaleLock(msgspec.Struct, frozen=True, kw_only=True):
    """A lock that was closed when machines were asked for."""

    since: datetime
    requested: int = 0
    """Machines that were asked for."""
    target: int = 0
    """Machines that the pool is to have with them."""
    is_confirmed: bool = False
    """Whether an earlier run has found them."""

    def is_held(self, now: datetime, times: LockTimes) -> bool:
        """Whether nothing may be done yet."""
        elapsed = now - self.since
        if elapsed < times.period:
            return True
        return elapsed <= times.timeout and not self.is_confirmed

    def ends_at(self, times: LockTimes) -> datetime:
        """When it opens at the latest."""
        return self.since + (times.period if self.is_confirmed else times.timeout)


class Arrivals(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of the machines that were asked for."""

    machines: int
    """Machines that the provider shows."""
    ready: int
    """Their nodes that are Ready."""
    starting: int
    """Nodes that aren't, and are younger than the timeout; older ones are written off."""

    def confirm(self, target: int) -> bool:
        """Whether everything that was asked for is there."""
        return self.machines >= target and self.ready >= target and not self.starting
