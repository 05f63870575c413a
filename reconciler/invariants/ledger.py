"""The allowed actions, remembered separately from the rooms' own memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import NodeRequest
    from reconciler.facts.requested import Bought


@dataclass(frozen=True, kw_only=True, slots=True)
class InvariantsLedger:
    """The judge's own memory; after a restart it begins anew, like the rooms' own."""

    unseen: Mapping[str, NodeRequest] = field(default_factory=dict)
    """Requests that were let through and that no cache has shown yet, by name."""
    begun: Mapping[str, Bought] = field(default_factory=dict)
    """Purchases of the last hour, by the name of the request."""
