"""What pools and node classes say of themselves."""

from reconciler.pools.rule import decide

__all__ = ["decide"]
