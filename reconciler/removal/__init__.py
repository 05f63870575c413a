"""The life of a NodeRemovalRequest: machines are given back, safely."""

from reconciler.removal.rule import decide

__all__ = ["decide"]
