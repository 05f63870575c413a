"""The writes that there are: each changes one object, and is made from what was read of it."""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec

from certs.issued import Issued, Pair
from certs.state import AuthoritySecret, Configuration, LeafSecret


class Make(msgspec.Struct, frozen=True):
    """A first authority, or one in the place of a Secret that was lost."""

    authority: AuthoritySecret
    lost: Issued | None
    """The certificate of the one before, found with a leaf: it is trusted until the change."""


class Introduce(msgspec.Struct, frozen=True):
    """A next authority beside the current one."""

    authority: AuthoritySecret


class Promote(msgspec.Struct, frozen=True):
    """The next authority becomes the current one."""

    authority: AuthoritySecret


class Retire(msgspec.Struct, frozen=True):
    """The previous authority is trusted no longer."""

    authority: AuthoritySecret


class Settle(msgspec.Struct, frozen=True):
    """Everybody is found to follow this authority's Secret."""

    authority: AuthoritySecret


class Issue(msgspec.Struct, frozen=True):
    """A new leaf."""

    leaf: LeafSecret
    under: Pair
    bundle: bytes


class Spread(msgspec.Struct, frozen=True):
    """Whom the owner of a leaf is to trust."""

    leaf: LeafSecret
    bundle: bytes


class Inject(msgspec.Struct, frozen=True):
    """Whom the API server is to trust."""

    configuration: Configuration
    bundle: bytes


OfSecret: TypeAlias = Make | Introduce | Promote | Retire | Settle | Issue | Spread
Write: TypeAlias = OfSecret | Inject


def subject_of(write: Write) -> str:
    """The object that a write is about, as kubectl names it."""
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
