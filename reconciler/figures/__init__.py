"""What the leader tells about demand, plans, pools and machines, as metrics.

Nothing here is asked by a rule. Almost all of it is worked out from the last World when somebody
looks; what would be forgotten by then (how long a pod took, how good a plan was) is taken down as
the worlds go by.
"""

from reconciler.figures.figures import Figures

__all__ = ["Figures"]
