"""Planning: it turns demand into NodeRequests."""

from reconciler.planning.asking import LANE
from reconciler.planning.rule import decide

__all__ = ["LANE", "decide"]
