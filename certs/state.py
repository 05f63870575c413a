"""What the rule decides on: our Secrets and configurations as they are in the API server now."""

from __future__ import annotations

from datetime import datetime

import msgspec

from certs.issued import Issued, Pair
from certs.wanted import WantedAuthority, WantedLeaf
from growth.kube.writes import Decided


class AuthoritySecret(msgspec.Struct, frozen=True, kw_only=True):
    """The Secret of an authority: the one that signs, and those that come before and after it."""

    wanted: WantedAuthority
    decided: Decided | None
    """None: it isn't there."""
    ours: bool
    """Whether growth keeps it. Otherwise somebody else does, and we only sign with it."""
    current: Issued | None
    pair: Pair | None
    """The current one with its key, if that is there and fits."""
    next: Pair | None
    previous: Issued | None
    settled_at: datetime | None
    """Since when everybody trusts what this Secret says, and shows what it has signed."""
    asked: bool
    """Whether a person has asked for a rotation."""

    @property
    def trusted(self) -> tuple[Issued, ...]:
        """Every certificate that has to be trusted, in an order that a rotation doesn't change."""
        coming = self.next.certificate if self.next else None
        every = (self.current, coming, self.previous)
        known = {issued.key_id: issued for issued in every if issued is not None}
        return tuple(sorted(known.values(), key=lambda issued: (issued.begin, issued.key_id)))

    @property
    def bundle(self) -> bytes:
        """What everybody has to trust, in PEM."""
        return b"".join(issued.pem for issued in self.trusted)


class LeafSecret(msgspec.Struct, frozen=True, kw_only=True):
    """The Secret of a leaf."""

    wanted: WantedLeaf
    decided: Decided | None
    """None: it isn't there."""
    ours: bool
    pair: Pair | None
    """None: half of it is missing, or the halves don't fit."""
    bundle: bytes
    """Whom its owner trusts."""
    trusted: tuple[Issued, ...]
    """The same, read."""
    names: frozenset[str]
    """Which names it has to have."""
    asked: bool


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """A MutatingWebhookConfiguration, as far as trust is concerned."""

    name: str
    decided: Decided
    bundles: tuple[bytes, ...]
    """Whom the API server trusts, for each of its webhooks."""
    trusted: tuple[Issued, ...]
    """The same, read."""


class KeptAuthority(msgspec.Struct, frozen=True, kw_only=True):
    """An authority with everything that depends on it."""

    authority: AuthoritySecret
    leaves: tuple[LeafSecret, ...]
    configurations: tuple[Configuration, ...]
    """Those that are there."""
    unknown: tuple[str, ...] = ()
    """Configurations that we may not read, and so can't tell whom they trust."""


State = tuple[KeptAuthority, ...]
