"""The possible writes; each changes one object, based on what was read of it."""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec

from certs.issued import Issued, Pair
from certs.state import AuthoritySecret, Configuration, LeafSecret


class Make(msgspec.Struct, frozen=True):
    """Create a first authority, or one that replaces a lost Secret."""

    authority: AuthoritySecret
    lost: Issued | None
    """The certificate of the lost one, found with a leaf; it is trusted until the change."""


class Introduce(msgspec.Struct, frozen=True):
    """Add a next authority to the current one."""

    authority: AuthoritySecret


class Promote(msgspec.Struct, frozen=True):
    """Make the next authority the current one."""

    authority: AuthoritySecret


class Retire(msgspec.Struct, frozen=True):
    """Stop trusting the previous authority."""

    authority: AuthoritySecret


class Settle(msgspec.Struct, frozen=True):
    """Note that all dependents follow this authority's Secret."""

    authority: AuthoritySecret


class Issue(msgspec.Struct, frozen=True):
    """Issue a new leaf."""

    leaf: LeafSecret
    under: Pair
    bundle: bytes


class Spread(msgspec.Struct, frozen=True):
    """Write the bundle into the Secret of a leaf."""

    leaf: LeafSecret
    bundle: bytes


class Inject(msgspec.Struct, frozen=True):
    """Write the bundle into a webhook configuration."""

    configuration: Configuration
    bundle: bytes


OfSecret: TypeAlias = Make | Introduce | Promote | Retire | Settle | Issue | Spread
Write: TypeAlias = OfSecret | Inject


def subject_of(write: Write) -> str:
    """The object of a write, as kubectl names it."""
    match write:
        case Issue(leaf) | Spread(leaf):
            return f"secret/{leaf.wanted.name}"
        case Inject(configuration):
            return f"mutatingwebhookconfiguration/{configuration.name}"
        case Make(authority) | Introduce(authority) | Promote(authority):
            return f"secret/{authority.wanted.name}"
        case Retire(authority) | Settle(authority):
            return f"secret/{authority.wanted.name}"
        case _:
            assert_never(write)
