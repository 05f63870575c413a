"""What growth would do for pools that only observe: machines that exist in memory alone.

Each look is at the cluster as it would be if growth had served these pools: the nodes that others
have added since the observation began aren't there, their pods wait for a node, and the machines
that growth would have bought are there instead. In that world, planning's own functions decide what
to buy, within the pool's limits and at its prices. A pod that got a place keeps it as long as it
exists, wherever others run it, so the same pods never buy twice. A machine without pods is given
back by the pool's own rules for idle nodes.

Nothing here acts: the only action is a question for the solver.
"""

from reconciler.observing.ledger import LANE
from reconciler.observing.rule import decide

__all__ = ["LANE", "decide"]
