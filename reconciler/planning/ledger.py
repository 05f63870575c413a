"""What planning remembers between two passes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from growth.api.noderequest import NodeRequest


class PlanningLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Memory that is rebuilt from NodeRequests after a restart."""

    unconfirmed: Mapping[str, NodeRequest] = {}
    """Requests that were decided on and that the cache doesn't show yet, by name. They count as
    if they were there, so that the same demand seen twice buys once."""
