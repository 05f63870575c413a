"""The life of a NodeRecord: made, bound to its Node, and deleted with its machine."""

from reconciler.records.rule import decide

__all__ = ["decide"]
