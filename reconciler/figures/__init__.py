"""The leader's metrics of demand, plans, pools and machines.

No rule uses them. Most are computed from the last World when they are scraped. What would be lost
by then (how long a pod took, how good a plan was) is recorded with each World.
"""

from reconciler.figures.figures import Figures

__all__ = ["Figures"]
