"""What a candidate knows about the Lease, and how each answer of the API server changes that.

All times are of the candidate's own clock, which also counts while the machine is suspended. Safety
depends on which end of a call counts. What we *saw* counts from the end of the call, because it may
have become true only then. What we *wrote* counts from its start, because it may have been written
at once.
"""

from __future__ import annotations

import msgspec

from growth.kube.election.lease import Lease


class LeaseView(msgspec.Struct, frozen=True):
    """A candidate's view of the Lease; each answer makes a new one."""

    lease: Lease | None = None
    """The last seen state; None if there is none, or if it was never read."""
    unchanged_since: float | None = None
    """When this state was first seen; None if the Lease was never read."""
    newcomer: bool = True
    """Whether it hasn't changed since the first read."""
    certain: bool = False
    """Whether the last call showed the state of the Lease; after a lost answer it is unknown."""
    renewed_at: float | None = None
    """When the last successful renewal began; None if we don't lead."""
    next_call: float = float("-inf")
    """The earliest time for the next call; the candidate adds the jitter."""


def after_look(
    standing: LeaseView, lease: Lease | None, *, ended: float, next_call: float
) -> LeaseView:
    """The view after a read. A leader writes right after it, a candidate reads again later."""
    return msgspec.structs.replace(
        _after_sight(standing, lease, ended=ended),
        next_call=next_call if standing.renewed_at is None else standing.next_call,
    )


def after_hold(
    standing: LeaseView, lease: Lease, *, started: float, ended: float, next_call: float
) -> LeaseView:
    """The view after a write with us as the holder."""
    return msgspec.structs.replace(
        _after_sight(standing, lease, ended=ended), renewed_at=started, next_call=next_call
    )


def after_failure(standing: LeaseView, *, next_call: float) -> LeaseView:
    """The view after a failed call or a lost answer: a write may have succeeded or not."""
    return msgspec.structs.replace(standing, certain=False, next_call=next_call)


def after_hint(standing: LeaseView) -> LeaseView:
    """The view after a hint that the Lease has changed: the next call is due now."""
    return msgspec.structs.replace(standing, next_call=float("-inf"))


def after_loss(standing: LeaseView) -> LeaseView:
    """The view after the end of the leadership."""
    return msgspec.structs.replace(standing, renewed_at=None)


def _after_sight(standing: LeaseView, lease: Lease | None, *, ended: float) -> LeaseView:
    same = standing.unchanged_since is not None and _same(standing.lease, lease)
    return msgspec.structs.replace(
        standing,
        lease=lease,
        unchanged_since=standing.unchanged_since if same else ended,
        newcomer=standing.unchanged_since is None or (standing.newcomer and same),
        certain=True,
    )


def _same(before: Lease | None, now: Lease | None) -> bool:
    if before is None or now is None:
        return before is now
    return before.says_the_same_as(now)
