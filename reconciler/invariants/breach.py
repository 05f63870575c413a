"""Which rules there are, and what is known of one that was about to be broken."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Invariant(StrEnum):
    """What has to hold, by the word that metric, event and command use for it."""

    MAXIMUM_KEPT = "MaximumKept"
    """No pool has more machines than it may, of any type, in all, in an hour, or for its money."""
    TOTAL_KEPT = "TotalKept"
    """All pools together have no more than the caps of the process allow."""
    INTENT_FIRST = "IntentFirst"
    """A machine is asked for by a request that is written down, and by no other."""
    DELETED_AS_NAMED = "DeletedAsNamed"
    """What is deleted is what its removal names, and what the last believed listing shows."""
    NEVER_BLIND = "NeverBlind"
    """Nothing is given back while the brakes forbid it."""
    PODS_KEEP_NODES = "PodsKeepNodes"
    """A node with pods goes after a drain, and only pods of such a node are evicted."""
    CORDON_KEPT = "CordonKept"
    """Nobody but who has cordoned a node takes that off, or the node away because it is idle."""
    ONE_SEQUENCE = "OneSequence"
    """A subject that is being worked on is left alone, and a sequence touches nothing else."""


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was decided and must not be done."""

    invariant: Invariant
    text: str
    """What exactly, for people: names and figures."""
    pool: str = ""
    """The pool that it is about, if there is one."""
