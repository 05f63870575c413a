"""What has to be written next: a pure function of what is there and of the time.

An authority is replaced in steps, each of them one write of its Secret, so that at every moment
everybody trusts whatever anybody may still show:

    Introduce   the next authority is trusted too                  current, next
    Settle      everybody does so: the time is noted
    Promote     an overlap later it signs; leaves are made anew    previous, current
    Settle      all leaves are under it: the time is noted
    Retire      an overlap later the old one is trusted no more    current

Nothing is remembered elsewhere. Whoever dies between two writes leaves a state from which the same
steps go on, and two writers at once only make each other decide again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from certs.moment import Moment
from certs.steps import Inject, Introduce, Issue, Make, Promote, Retire, Settle, Spread, Write
from certs.wanted import Rotation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from certs.issued import Issued, Pair
    from certs.state import State
    from certs.wanted import Policy


def due(state: State, *, policy: Policy, now: datetime) -> tuple[Write, ...]:
    """All writes that are due: at most one for each object, and none waits for another."""
    return tuple(write for kept in state for write in _due(Moment(kept, policy, now)))


def _due(moment: Moment) -> tuple[Write, ...]:
    """A step of the authority alone, or what its dependents need to follow it."""
    step = _step(moment)
    if step is not None:
        return (step,)
    following = tuple(_following(moment))
    if not following and _settles(moment):
        return (Settle(moment.kept.authority),)
    return following


def _step(moment: Moment) -> Write | None:
    authority = moment.kept.authority
    if not authority.ours:
        return None
    if authority.current is None:
        return Make(authority, moment.lost)
    if authority.next is not None:
        return _with_next(moment, authority.next)
    if authority.previous is not None:
        return _with_previous(moment, authority.previous)
    return Introduce(authority) if moment.wants_rotation else None


def _with_next(moment: Moment, coming: Pair) -> Write | None:
    authority = moment.kept.authority
    if not moment.is_valid(coming.certificate):
        return Introduce(authority)
    allowed = authority.asked or authority.wanted.rotation is Rotation.BY_ITSELF
    ready = moment.is_pressing or (moment.has_overlapped and allowed)
    return Promote(authority) if ready else None


def _with_previous(moment: Moment, previous: Issued) -> Write | None:
    over = moment.has_overlapped or not moment.is_valid(previous)
    return Retire(moment.kept.authority) if over else None


def _settles(moment: Moment) -> bool:
    authority = moment.kept.authority
    moving = authority.next is not None or authority.previous is not None
    return authority.ours and moving and not moment.kept.unknown and moment.settled_at is None


def _following(moment: Moment) -> Iterator[Write]:
    bundle = moment.kept.authority.bundle
    # Somebody else's Secret may hold nothing: then nobody is told to trust nobody.
    if not bundle:
        return
    for leaf in moment.leaves:
        signer = moment.signer_for(leaf)
        if signer is not None:
            yield Issue(leaf, signer, bundle)
        elif leaf.decided is not None and leaf.bundle != bundle:
            yield Spread(leaf, bundle)
    for configuration in moment.kept.configurations:
        if any(trusted != bundle for trusted in configuration.bundles):
            yield Inject(configuration, bundle)
