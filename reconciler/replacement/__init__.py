"""Which node is replaced by which: cheaper ones, those made as the pool says now, healthy ones."""

from reconciler.replacement.proving import LANE
from reconciler.replacement.rule import decide

__all__ = ["LANE", "decide"]
