"""The deletion cost of all pods of a node: the lower, the later the node was bought."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from growth.keeping.marks import bought_at

if TYPE_CHECKING:
    from growth.scheduling.node import Node

HIGHEST: Final = 2_000_000_000
"""The API server refuses what isn't a number of 32 bits."""
LOWEST: Final = -HIGHEST
SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)
SPAN: Final = 600.0
"""Seconds. Nodes that were bought within this time are in no order by age; these numbers last for
70 years."""
PLACES: Final = 1024
"""Costs for nodes of one span. Two of them may have the same, which only makes Kubernetes take
pods from both."""


def cost_on(node: Node) -> int | None:
    """The cost of each pod of a node; None if it isn't known when the node was bought."""
    bought = bought_at(node)
    if bought is None:
        return None
    spans = int((bought - SINCE).total_seconds() // SPAN)
    # Of one plan's nodes, some must go first, too, and always the same ones.
    digest = hashlib.sha256(node.name.encode()).digest()
    place = int.from_bytes(digest[:4], "big") % PLACES
    return max(LOWEST, min(HIGHEST, HIGHEST - spans * PLACES - place))
