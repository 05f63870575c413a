"""What a candidate does next: a pure function of what it has seen and of its own clock.

Two rules make it safe. A leader leads until the *start* of its last successful renewal plus the
renew deadline. Another candidate takes a held Lease only after it has seen it unchanged for the
whole lease duration, counted from the *end* of the call that first showed this state; and its write
has the resourceVersion that it saw. A renewal starts before anyone can see it, and the deadline is
shorter than the duration. So the old leader has ended before the new one starts, however late any
message is and whatever a wall clock says.

Three Leases are free at once: one that its holder has released, one that was never held, and our
own (or one of an earlier run that has provably ended, see `identity`). A *missing* Lease isn't
free: it was deleted, and its leader may not know yet. A candidate that finds none creates one
without a holder and waits as for a held one, unless the leader comes back and takes it again. A
creation never makes a leader: a delayed creation looks the same as a fresh one, but a delayed write
is refused because of its resourceVersion.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import msgspec

from growth.errors import Misconfigured
from growth.kube.election.lease import Lease

if TYPE_CHECKING:
    from growth.kube.election.identity import Identity
    from growth.kube.election.standing import LeaseView


class Settings(msgspec.Struct, frozen=True):
    """Three durations in seconds; a Lease can store only whole seconds."""

    lease_duration: int = 15
    renew_deadline: float = 10
    retry: float = 2

    def __post_init__(self) -> None:
        if not 0 < 2 * self.retry <= self.renew_deadline < self.lease_duration:
            raise Misconfigured(
                f"leader election: retry {self.retry:g}s, renew deadline {self.renew_deadline:g}s, "
                f"lease duration {self.lease_duration}s: each must be longer than the one before, "
                "and the deadline must leave time for two tries"
            )

    @property
    def call_timeout(self) -> float:
        """The timeout of a call; one that hangs leaves time for another before the deadline."""
        return self.renew_deadline / 2


class LeadershipLoss(enum.Enum):
    """Why a leader must stop."""

    DEADLINE = "the Lease could not be renewed in time"
    TAKEN = "another candidate holds the Lease"


class ReadLease(msgspec.Struct, frozen=True):
    """Read the Lease."""


class CreateLease(msgspec.Struct, frozen=True):
    """Create the missing Lease, without a holder."""


class HoldLease(msgspec.Struct, frozen=True):
    """Write ourselves as the holder of this state of the Lease: take it or renew it."""

    lease: Lease


class Wait(msgspec.Struct, frozen=True):
    """Do nothing before this time."""

    until: float


class StepDown(msgspec.Struct, frozen=True):
    """Stop leading now."""

    loss: LeadershipLoss


Step = ReadLease | CreateLease | HoldLease | Wait | StepDown


def next_step(standing: LeaseView, *, who: Identity, settings: Settings, now: float) -> Step:
    """The next step of a leader or a candidate."""
    if standing.renewed_at is not None:
        return _as_leader(standing, who=who, settings=settings, now=now)
    return _as_candidate(standing, who=who, settings=settings, now=now)


def leads_until(standing: LeaseView, settings: Settings) -> float:
    """When the leadership ends unless it is renewed."""
    if standing.renewed_at is None:
        return float("-inf")
    return standing.renewed_at + settings.renew_deadline


def _as_leader(standing: LeaseView, *, who: Identity, settings: Settings, now: float) -> Step:
    end = leads_until(standing, settings)
    if now >= end:
        return StepDown(LeadershipLoss.DEADLINE)
    if standing.certain and _held_by_another(standing.lease, who):
        return StepDown(LeadershipLoss.TAKEN)
    if now < standing.next_call:
        return Wait(min(standing.next_call, end))
    # After a lost answer our write may have succeeded, so the version we know may be old.
    return _write(standing) if standing.certain else ReadLease()


def _write(standing: LeaseView) -> Step:
    return CreateLease() if standing.lease is None else HoldLease(standing.lease)


def _held_by_another(lease: Lease | None, who: Identity) -> bool:
    return lease is not None and lease.spec.held and lease.spec.holder_identity != who.text


def _as_candidate(standing: LeaseView, *, who: Identity, settings: Settings, now: float) -> Step:
    # Only a Lease that was seen is free; after a lost answer it must be read again.
    free_at = _free_at(standing, who=who, settings=settings) if standing.certain else float("inf")
    if now >= free_at:
        return _write(standing)
    if now >= standing.next_call:
        return ReadLease()
    return Wait(min(standing.next_call, free_at))


def _free_at(standing: LeaseView, *, who: Identity, settings: Settings) -> float:
    since = standing.unchanged_since
    if since is None:
        return float("inf")
    if standing.lease is None:
        return since
    spec = standing.lease.spec
    # A Lease that became empty while we watched had a holder, who may still believe in it.
    if spec.given_back or (spec.never_held and standing.newcomer):
        return since
    if spec.holder_identity and who.may_take_back(spec.holder_identity):
        return since
    return since + (spec.lease_duration_seconds or settings.lease_duration)
