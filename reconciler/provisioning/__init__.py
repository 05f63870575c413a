"""The life of a NodeRequest, and of a node until it serves."""

from reconciler.provisioning.rule import decide

__all__ = ["decide"]
