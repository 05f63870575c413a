"""The reconciler: it buys machines for demand, and gives idle machines back."""
