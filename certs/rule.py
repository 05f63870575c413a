"""What to write next: a pure function of the current state and the time.

An authority is replaced in steps, and each step is one write of its Secret. So at any time, all
processes trust every certificate that another one may still use:

    Introduce   the next authority is trusted as well                 current, next
    Settle      all bundles contain it: the time is noted
    Promote     after the overlap, it signs; leaves are issued again  previous, current
    Settle      all leaves are signed by it: the time is noted
    Retire      after the overlap, the old one is no longer trusted   current

Nothing is remembered elsewhere. If a writer ends between two writes, the next one continues from
the same state. Two writers at once only cause conflicts, after which they decide again.
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
    """All writes that are due: at most one for each object, in any order."""
    return tuple(write for kept in state for write in _due(Moment(kept, policy, now)))


def _due(moment: Moment) -> tuple[Write, ...]:
    """The next step of the authority, or else what its dependents need to follow it."""
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
    # An authority that a person must copy elsewhere is promoted only on request, so that it is
    # trusted there before anything is signed by it.
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
    # A Secret that growth doesn't manage may be empty. An empty bundle must not be spread.
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
