"""What is remembered of what was let through, apart from what the rooms remember themselves."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from growth.api.noderequest import NodeRequest
from reconciler.facts.requested import Bought


class InvariantsLedger(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's own memory; after a restart it begins anew, like the rooms' own."""

    unseen: Mapping[str, NodeRequest] = {}
    """Requests that were let through and that no cache has shown yet, by name."""
    begun: Mapping[str, Bought] = {}
    """Purchases of the last hour, by the name of the request."""
