"""The optimiser: a Problem in, the cheapest Plan that the effort finds out, with a proven bound.

Pure: no clock decides, no Kubernetes, no I/O. Read the rooms in the order of the work: problem,
lots (rules about domains settled), dimensions (rules about nodes as resources), table and reduce
(arrays), relax and bound (what no plan undercuts), pack and tail (a first plan), prove (small
problems exactly), columns, price, exact and master (contents of nodes), dive and improve (whole
nodes), first_fit (the yardstick), assemble and explain (names and reasons), steps (weights), search
and solving (the whole way). The other direction is a Renewal in and what may go out: renewal (the
data), renew_field (arrays), renew_relax (waste), renew_trial, renew_buying and renew_prospects
(nodes gone on trial), renew_search, renew_small (every set of few nodes), renew_plan, renew_sparing
(few moved) and renew (the whole way).

This face has the data alone: whoever asks and whoever answers are two processes, and the engine is
loaded in one of them only (`reconciler.solver.packing.solving`).
"""

from reconciler.solver.model.plan import (
    NextBest,
    Plan,
    PlannedNode,
    Stop,
    Unplaced,
    UnplacedCause,
    UnplacedReason,
    WeightStep,
)
from reconciler.solver.model.problem import (
    HOSTNAME,
    Apart,
    Effort,
    Group,
    Limit,
    Minimum,
    Offer,
    PodClass,
    Problem,
    SpreadRule,
    Together,
)
from reconciler.solver.model.renewal import RenewableNode, Renewal, Renewed

__all__ = [
    "HOSTNAME",
    "Apart",
    "Effort",
    "Group",
    "Limit",
    "Minimum",
    "NextBest",
    "Offer",
    "Plan",
    "PlannedNode",
    "PodClass",
    "Problem",
    "RenewableNode",
    "Renewal",
    "Renewed",
    "SpreadRule",
    "Stop",
    "Together",
    "Unplaced",
    "UnplacedCause",
    "UnplacedReason",
    "WeightStep",
]
