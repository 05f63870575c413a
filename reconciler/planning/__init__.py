"""From demand to NodeRequests."""

from reconciler.planning.rule import LANE, decide

__all__ = ["LANE", "decide"]
