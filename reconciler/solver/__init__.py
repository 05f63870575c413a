"""The optimiser: it turns a Problem into the cheapest Plan that it finds, with a proven bound.

It is pure: it knows nothing of Kubernetes and does no I/O, and a clock only stops a search that
takes far too long. Its packages, in the order of the work:

    model     problems, plans and renewals as data; lots; the texts of a plan
    arrays    a problem as arrays, made smaller where that changes nothing
    bound     the lowest cost that a plan can have, and the programs that prove it
    packing   the search for a plan
    renewal   the opposite search: which nodes can be removed, and where their pods go

This module exports only the data. The caller and the solver are two processes, and only the second
one loads the engine (`reconciler.solver.packing.solving`).

Words of a problem (docs/concepts/words.md has the others: problem, class, offer, plan, effort):

    unit         one pod, or the pods that must share a node; units are packed one by one
    lot          a number of equal units; a class becomes one or more lots
    domain       the nodes with the same value of a topology key, such as a zone
    group        a rule about pods of several classes: SpreadRule, Apart, Together or Near
    anchor       a pod that another one, its follower, must be near
    bundle       a unit of anchors and the followers that share a node with them
    bond         the name of a group whose rule a lot hasn't settled yet
    mark, repel  tokens: two pods don't share a node if one repels a mark of the other
    clash        two classes that may not share a node
    standing     what exists already: nodes, as offers (Table) or as nodes that may go (Renewal)
    settled      decided before the search, so that the search doesn't have to keep the rule
    assumed      how many pods of a spread the emptiest node has, which decides how many others may
    level        the pods of a spread on a node; to level is to move pods until the spread holds
    block        as many pods of a spread as each node needs at least, packed as one unit
    step         the part of a problem with the pools of one weight

Words of the arrays:

    ground       the offers of a problem as arrays, in the order of preference
    table        a problem as arrays; its classes are lots merged because they are equal
    relaxed      a table without any choice of a domain: each plan for the problem fits it
    setting      a problem ready for the search: the table to pack, and the relaxed one to bound
    dimension    a rule about single nodes, written as one more resource
    cluster      classes that are similar enough to be one class in a linear program
    cell         lots of nearly the same size, treated as equal when there are too many lots
    sunk         what a node costs that a minimum requires anyway
    draft        a plan in arrays, while it is being made
    stock        what can still be bought while nodes are added to a draft

Words of the bound:

    bound        a cost that no plan can go below
    relaxation   the problem as a linear program, in which fractions of nodes are allowed
    value        what a linear program says that one unit is worth
    worth, gain  the values of all units on a node; what that is beyond the node's cost
    waste        the part of a node's cost that isn't covered by what is on it
    content      the units on one node
    pattern      an offer with a content that the search has found
    column       a pattern as a variable of a linear program
    master       the linear program over all known columns
    pricing      the search for patterns that are worth more than they cost
    seed         the class that a filling starts with, instead of the one with the most value
    place        in a proof, a slot for one node; in a renewal, a node with its free room
    proof        whether a program over integers found that no better plan exists

Words of the search:

    tick         a unit of counted work, about a microsecond
    budget       the ticks that a search may still spend (elsewhere, a limit on disruptions)
    cover        the cheapest choice of patterns that covers all pods
    dive         from fractions of patterns to whole nodes, one step after another
    mend         packing all wasteful nodes again at once
    tail         the last few units, packed greedily
    dry          a round that finds nothing new

Words of a renewal:

    field        a renewal as arrays
    part         the pods of a class that must stay in the same domains
    goods        the table of what can be bought
    trial        a state of the search: some nodes are removed, and their pods are elsewhere
    loose        pods of a trial that have no place yet
    leaning      what a linear program suggests to keep and to remove
    disturbance  what it costs the pods of a node when the node is removed
    sparing      the search for few disturbances instead of the largest saving
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
    Near,
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
    "Near",
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
