"""The order in which pods go when their workload is scaled down, if growth may write it.

By default, Kubernetes takes pods evenly from all nodes. All of these then stay, half empty, until
consolidation moves what is left. With a deletion cost, one node after another is emptied by the
scale-down itself, and nothing has to be moved.

The cost depends only on the node: the later it was bought, the sooner its pods go. So it is written
once for each pod and never changed, whatever happens on other nodes.
"""

from reconciler.departure.rule import decide

__all__ = ["decide"]
