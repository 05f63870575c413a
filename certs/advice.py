"""Problems with certificates that a person must fix, each as one line with the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from certs.moment import Moment
from certs.wanted import Rotation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from certs.state import State
    from certs.wanted import Policy


def advice(state: State, *, policy: Policy, now: datetime) -> tuple[str, ...]:
    """Everything that growth can't fix by itself."""
    return tuple(line for kept in state for line in _of(Moment(kept, policy, now)))


def _of(moment: Moment) -> Iterator[str]:
    yield from _of_authority(moment)
    yield from _of_leaves(moment)
    for name in moment.kept.unknown:
        yield f"webhook configuration {name}: no permission; add get and patch to the role"


def _of_authority(moment: Moment) -> Iterator[str]:
    authority = moment.kept.authority
    place = f"Secret {authority.wanted.name}"
    usable = authority.pair is not None and moment.is_valid(authority.pair.certificate)
    if not authority.ours:
        if not usable:
            yield f"{place}: growth doesn't manage it, and it has no usable authority"
    elif authority.wanted.rotation is Rotation.BY_HAND:
        yield from _by_hand(moment, usable=usable)


def _by_hand(moment: Moment, *, usable: bool) -> Iterator[str]:
    authority = moment.kept.authority
    place, name = f"Secret {authority.wanted.name}", authority.wanted.name
    if authority.next is not None:
        yield (
            f"{place}: the next authority is ready; copy it to the scheduler"
            f" (growth certs export {name}), then run: growth certs rotate {name}"
        )
    elif authority.current is not None and (not usable or moment.is_worn(authority.current)):
        yield f"{place}: it must be replaced manually; run: growth certs rotate {name}"


def _of_leaves(moment: Moment) -> Iterator[str]:
    for leaf in moment.kept.leaves:
        if leaf.decided is None or not moment.is_useless(leaf):
            continue
        if not leaf.ours:
            yield f"Secret {leaf.wanted.name}: growth doesn't manage it, and it can't be used"
        elif moment.signer_for(leaf) is None:
            yield f"Secret {leaf.wanted.name}: it can't be used, and no authority can sign it"
