"""How many machines each pool should have, by the policy that its spec names."""

from reconciler.scaling.rule import decide

__all__ = ["decide"]
