"""The health check: nodes that never became Ready, and whether the newest ones mostly do.

A pool whose newest nodes are broken would only buy more broken ones, and give back those that work.
So while too many of them are unhealthy, the number of nodes doesn't change.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from reconciler.scaling.utilisation.nodes import newest_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from reconciler.scaling.utilisation.nodes import GroupNode


class HealthCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes are tested, and how many may fail."""

    grace: timedelta
    """Younger nodes may still be starting."""
    newest_percent: int = 100
    most_unhealthy_percent: int = 0

    def is_old_enough(self, node: GroupNode, now: datetime) -> bool:
        """Whether the node has had its time to start."""
        return node.age(now) > self.grace

    def is_unhealthy(self, node: GroupNode, now: datetime) -> bool:
        """Whether it had its time and isn't Ready; people work on cordoned nodes."""
        return not node.is_ready and not node.is_cordoned and self.is_old_enough(node, now)

    def tested(self, nodes: Iterable[GroupNode], now: datetime) -> Sequence[GroupNode]:
        """The newest of the nodes that had their time."""
        return self.newest([node for node in nodes if self.is_old_enough(node, now)])

    def newest(self, nodes: Sequence[GroupNode]) -> Sequence[GroupNode]:
        """The share of them that is tested, rounded up."""
        return newest_first(nodes)[: -(-len(nodes) * self.newest_percent // 100)]

    def is_passed(self, nodes: Iterable[GroupNode], now: datetime) -> bool:
        """Whether few enough of the newest nodes are unhealthy."""
        tested = self.tested(nodes, now)
        failed = sum(self.is_unhealthy(node, now) for node in tested)
        return not tested or failed * 100 // len(tested) <= self.most_unhealthy_percent
