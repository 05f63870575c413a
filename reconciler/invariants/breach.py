"""The invariants, and the record of a decision that would have broken one."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Invariant(StrEnum):
    """Rules that always hold; metric, event and command line use these names."""

    MAXIMUM_KEPT = "MaximumKept"
    """No pool exceeds its limits: machines of a type, machines in all, per hour, or cost."""
    TOTAL_KEPT = "TotalKept"
    """All pools together don't exceed the caps in the reconciler's settings."""
    INTENT_FIRST = "IntentFirst"
    """A machine is bought only for its own request, which already exists."""
    DELETED_AS_NAMED = "DeletedAsNamed"
    """Only the machine that the removal names and the last believed listing shows is deleted."""
    NEVER_BLIND = "NeverBlind"
    """Nothing is removed while the brakes forbid it."""
    PODS_KEEP_NODES = "PodsKeepNodes"
    """A node with pods goes only after a drain, and only pods on draining nodes are evicted."""
    CORDON_KEPT = "CordonKept"
    """A node that a person has cordoned is neither uncordoned nor removed as idle."""
    BUDGET_KEPT = "BudgetKept"
    """Removals of nodes in use stay within the disruption budgets of their pool."""
    ONE_SEQUENCE = "OneSequence"
    """At most one sequence works on a subject, and it touches nothing else."""


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """One decision that would break an invariant."""

    invariant: Invariant
    text: str
    """The details of the breach, with names and figures."""
    pool: str = ""
    """The pool concerned, if there is one."""
