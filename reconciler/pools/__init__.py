"""The status of pools and node classes."""

from reconciler.pools.rule import decide

__all__ = ["decide"]
