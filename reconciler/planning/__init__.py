"""From demand to NodeRequests."""

from reconciler.planning.rule import decide

__all__ = ["decide"]
