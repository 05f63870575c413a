"""What one candidate knows of the Lease, and how each answer of the API server changes that.

Every time here is of the candidate's own clock, which counts a suspended machine's time too. Which
of the two ends of a call counts is the heart of the safety: what we *saw* counts from the end of
the call (it may have been true only then), what we *promised* from its start (it may have been
written right then).
"""

from __future__ import annotations

import msgspec

from growth.kube.election.lease import Lease


class LeaseView(msgspec.Struct, frozen=True):
    """One candidate's knowledge; made new with each answer."""

    lease: Lease | None = None
    """As last seen; None = there is none, or it was never looked for."""
    unchanged_since: float | None = None
    """When it was first seen as it is now; None = never looked."""
    newcomer: bool = True
    """Whether it has been the same since the first look."""
    certain: bool = False
    """Whether the last call told what the Lease is now; a lost answer leaves that open."""
    renewed_at: float | None = None
    """When the last successful renewal began; None = not leading."""
    next_call: float = float("-inf")
    """The earliest time for another call; its jitter is the shell's."""


def after_look(
    standing: LeaseView, lease: Lease | None, *, ended: float, next_call: float
) -> LeaseView:
    """The Lease was read. A leader writes right after it, a candidate looks again later."""
    return msgspec.structs.replace(
        _after_sight(standing, lease, ended=ended),
        next_call=next_call if standing.renewed_at is None else standing.next_call,
    )


def after_hold(
    standing: LeaseView, lease: Lease, *, started: float, ended: float, next_call: float
) -> LeaseView:
    """The Lease was written with us as its holder."""
    return msgspec.structs.replace(
        _after_sight(standing, lease, ended=ended), renewed_at=started, next_call=next_call
    )


def after_failure(standing: LeaseView, *, next_call: float) -> LeaseView:
    """The call failed or its answer was lost: the write may have happened or may not."""
    return msgspec.structs.replace(standing, certain=False, next_call=next_call)


def after_hint(standing: LeaseView) -> LeaseView:
    """Something was heard of the Lease: it is time to look."""
    return msgspec.structs.replace(standing, next_call=float("-inf"))


def after_loss(standing: LeaseView) -> LeaseView:
    """The leadership has ended; what was seen of the Lease stays."""
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
