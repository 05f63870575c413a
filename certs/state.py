"""The state that the rule decides on: our Secrets and configurations in the API server."""

from __future__ import annotations

from datetime import datetime

import msgspec

from certs.issued import Issued, Pair
from certs.wanted import WantedAuthority, WantedLeaf
from growth.kube.writes import Decided


class AuthoritySecret(msgspec.Struct, frozen=True, kw_only=True):
    """The Secret of an authority: the current one, and the previous and next ones."""

    wanted: WantedAuthority
    decided: Decided | None
    """None if the Secret doesn't exist."""
    ours: bool
    """Whether growth manages it. Otherwise we only sign with it."""
    current: Issued | None
    pair: Pair | None
    """The current one with its key, if they match."""
    next: Pair | None
    previous: Issued | None
    settled_at: datetime | None
    """Since when all dependents follow this Secret."""
    asked: bool
    """Whether a person has requested a rotation."""

    @property
    def trusted(self) -> tuple[Issued, ...]:
        """All certificates that must be trusted, in an order that a rotation doesn't change."""
        coming = self.next.certificate if self.next else None
        every = (self.current, coming, self.previous)
        known = {issued.key_id: issued for issued in every if issued is not None}
        return tuple(sorted(known.values(), key=lambda issued: (issued.begin, issued.key_id)))

    @property
    def bundle(self) -> bytes:
        """The trusted certificates in PEM."""
        return b"".join(issued.pem for issued in self.trusted)


class LeafSecret(msgspec.Struct, frozen=True, kw_only=True):
    """The Secret of a leaf."""

    wanted: WantedLeaf
    decided: Decided | None
    """None if the Secret doesn't exist."""
    ours: bool
    pair: Pair | None
    """None if a part is missing, or if the parts don't match."""
    bundle: bytes
    """The authorities that its process trusts, in PEM."""
    trusted: tuple[Issued, ...]
    """The same, parsed."""
    names: frozenset[str]
    """The names that it must have."""
    asked: bool


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """A MutatingWebhookConfiguration and the authorities that it trusts."""

    name: str
    decided: Decided
    bundles: tuple[bytes, ...]
    """The authorities that the API server trusts, for each of its webhooks, in PEM."""
    trusted: tuple[Issued, ...]
    """The same, parsed."""


class KeptAuthority(msgspec.Struct, frozen=True, kw_only=True):
    """An authority with its dependents."""

    authority: AuthoritySecret
    leaves: tuple[LeafSecret, ...]
    configurations: tuple[Configuration, ...]
    """The configurations that exist."""
    unknown: tuple[str, ...] = ()
    """Configurations that growth isn't allowed to read."""


State = tuple[KeptAuthority, ...]
