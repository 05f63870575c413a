"""The certificates for people: purpose, authority, expiry, and what happens next."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from certs.moment import Moment
from certs.wanted import Rotation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from certs.issued import Pair
    from certs.state import AuthoritySecret, Configuration, LeafSecret, State
    from certs.wanted import Policy


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One object."""

    name: str
    purpose: str
    good: bool
    until: datetime | None = None
    """When it expires."""
    renewal: datetime | None = None
    """When growth renews it."""
    standing: str = ""
    """Other information."""


def rows(state: State, *, policy: Policy, now: datetime) -> tuple[Row, ...]:
    """The rows of all authorities, each followed by its dependents."""
    return tuple(row for kept in state for row in _rows(Moment(kept, policy, now)))


def _rows(moment: Moment) -> Iterator[Row]:
    kept = moment.kept
    yield _of_authority(moment, kept.authority)
    for leaf in kept.leaves:
        yield _of_leaf(moment, leaf)
    for configuration in kept.configurations:
        yield _of_configuration(configuration, bundle=kept.authority.bundle)


def _of_authority(moment: Moment, authority: AuthoritySecret) -> Row:
    by_itself = authority.wanted.rotation is Rotation.BY_ITSELF
    return Row(
        name=authority.wanted.name,
        purpose="signs the certificates below",
        good=authority.pair is not None and moment.is_valid(authority.pair.certificate),
        until=_until(authority.pair),
        renewal=_renewal(authority.pair) if by_itself and authority.ours else None,
        standing=_standing(authority, ", ".join(_phases(moment, authority))),
    )


def _phases(moment: Moment, authority: AuthoritySecret) -> Iterator[str]:
    change = moment.settled_at + moment.policy.overlap if moment.settled_at else None
    when = f" at {change:%H:%M}" if change else " when all processes know it"
    if authority.pair is None and authority.current is not None:
        yield "its key is lost"
    if authority.asked:
        yield "rotation requested"
    if authority.next is not None:
        by_hand = authority.wanted.rotation is Rotation.BY_HAND and not authority.asked
        yield "the next one waits for a request" if by_hand else f"the next one signs{when}"
    if authority.previous is not None:
        yield f"the previous one is removed{when}"


def _of_leaf(moment: Moment, leaf: LeafSecret) -> Row:
    return Row(
        name=leaf.wanted.name,
        purpose=leaf.wanted.purpose,
        good=not moment.is_useless(leaf),
        until=_until(leaf.pair),
        renewal=_renewal(leaf.pair) if leaf.ours else None,
        standing=_standing(leaf, "renewal requested" if leaf.asked else ""),
    )


def _standing(secret: AuthoritySecret | LeafSecret, otherwise: str) -> str:
    if secret.decided is None:
        return "doesn't exist yet"
    return otherwise if secret.ours else "not managed by growth"


def _of_configuration(configuration: Configuration, *, bundle: bytes) -> Row:
    trusts = all(trusted == bundle for trusted in configuration.bundles)
    return Row(
        name=configuration.name,
        purpose="webhook configuration",
        good=trusts,
        standing="" if trusts else "trusts another authority",
    )


def _until(pair: Pair | None) -> datetime | None:
    return pair.certificate.end if pair else None


def _renewal(pair: Pair | None) -> datetime | None:
    if pair is None:
        return None
    life: timedelta = pair.certificate.end - pair.certificate.begin
    return pair.certificate.begin + life * 2 / 3
