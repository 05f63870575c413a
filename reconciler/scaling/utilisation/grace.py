"""When a tainted node is given back: by the time at which it was tainted."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from datetime import datetime

    from reconciler.scaling.utilisation.nodes import GroupNode


class Fate(Enum):
    """What becomes of a tainted node."""

    STAYS = "stays"
    GOES = "goes"
    """It is empty and has waited long enough."""
    IS_DRAINED = "is drained"
    """It has waited so long that its pods are evicted first."""


class GracePeriods(msgspec.Struct, frozen=True, kw_only=True):
    """How long a node keeps its taint before it goes. Both comparisons are strict."""

    soft: timedelta
    """Until it goes if it is empty."""
    hard: timedelta
    """Until it goes in any case."""

    def fate(self, node: GroupNode, now: datetime) -> Fate:
        """What becomes of the node now."""
        if node.is_protected or node.tainted_at is None:
            return Fate.STAYS
        age = now - node.tainted_at
        if node.is_empty:
            return Fate.GOES if age > min(self.soft, self.hard) else Fate.STAYS
        return Fate.IS_DRAINED if age > self.hard else Fate.STAYS


def forced_fate(node: GroupNode) -> Fate:
    """What becomes of a node that somebody wants gone: no grace period, but no pod is moved."""
    return Fate.GOES if node.is_empty and not node.is_protected else Fate.STAYS
