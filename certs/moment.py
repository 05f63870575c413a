"""The state of one authority and its dependents at one time, and what follows from it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from certs.state import KeptAuthority, LeafSecret
from certs.wanted import Policy, Rotation

if TYPE_CHECKING:
    from certs.issued import Issued, Pair


class Moment(msgspec.Struct, frozen=True):
    """An authority and its dependents at one time."""

    kept: KeptAuthority
    policy: Policy
    now: datetime

    @property
    def leaves(self) -> tuple[LeafSecret, ...]:
        """The leaves that growth manages."""
        return tuple(leaf for leaf in self.kept.leaves if leaf.ours)

    @property
    def settled_at(self) -> datetime | None:
        """When it settled; a time in the future comes from a wrong clock and is ignored."""
        settled = self.kept.authority.settled_at
        return None if settled is None or settled > self.now + self.policy.skew else settled

    @property
    def has_overlapped(self) -> bool:
        """Whether all processes have had the new state for long enough."""
        settled = self.settled_at
        return settled is not None and self.now >= settled + self.policy.overlap

    @property
    def wants_rotation(self) -> bool:
        """Whether a next authority must be introduced."""
        authority = self.kept.authority
        if authority.asked or authority.pair is None:
            return True
        current = authority.pair.certificate
        by_itself = authority.wanted.rotation is Rotation.BY_ITSELF
        return by_itself and (self.is_worn(current) or not self.is_valid(current))

    @property
    def is_pressing(self) -> bool:
        """Whether the current authority is unusable, so that waiting wouldn't help."""
        authority = self.kept.authority
        if authority.current is None or not self.is_valid(authority.current):
            return True
        return authority.pair is None and any(self.is_useless(leaf) for leaf in self.leaves)

    @property
    def lost(self) -> Issued | None:
        """The certificate of a lost authority, which the existing leaves were signed by."""
        shown = {leaf.pair.certificate.authority_id for leaf in self.leaves if leaf.pair}
        carried = [
            *(issued for leaf in self.leaves for issued in leaf.trusted),
            *(issued for each in self.kept.configurations for issued in each.trusted),
        ]
        found = (issued for issued in carried if issued.key_id in shown)
        return max(found, key=lambda issued: (issued.end, issued.key_id), default=None)

    def signer_for(self, leaf: LeafSecret) -> Pair | None:
        """The authority that must sign this leaf again; None if the leaf is good or none can."""
        signer = self.kept.authority.pair
        if signer is None or not self.is_valid(signer.certificate):
            return None
        return signer if self._wants_signing(leaf, signer.certificate) else None

    def _wants_signing(self, leaf: LeafSecret, signer: Issued) -> bool:
        if leaf.asked or leaf.pair is None or self.is_useless(leaf):
            return True
        issued = leaf.pair.certificate
        # A leaf can't outlive its authority. Near that end, renewing it would change nothing.
        longer = signer.end > issued.end
        return issued.authority_id != signer.key_id or (longer and self.is_worn(issued))

    def is_useless(self, leaf: LeafSecret) -> bool:
        """Whether the Secret has no certificate that clients would accept."""
        if leaf.pair is None or not self.is_valid(leaf.pair.certificate):
            return True
        issued = leaf.pair.certificate
        return issued.names != leaf.names or issued.usages != frozenset({leaf.wanted.usage})

    def is_valid(self, issued: Issued) -> bool:
        """Whether it is valid for all processes, even if their clocks differ a little."""
        skew = self.policy.skew
        return issued.begin <= self.now + skew and self.now < issued.end - skew

    def is_worn(self, issued: Issued) -> bool:
        """Whether two thirds of its lifetime have passed."""
        return self.now >= issued.begin + (issued.end - issued.begin) * 2 / 3
