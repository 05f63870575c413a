"""What the scheduler lacks for a pod, read from its message.

A message names the reasons of all nodes. The first that applies in this order is the answer: what
more nodes would help with comes first.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Constraint(StrEnum):
    """What keeps a pod from all nodes."""

    PODS = "pods"
    CPU = "cpu"
    MEMORY = "memory"
    TAINT = "taint"
    ANTI_AFFINITY = "anti-affinity"
    AFFINITY = "affinity"
    NODE_SELECTOR = "node-selector"
    UNKNOWN = "unknown"


_WORDS: Final = {
    Constraint.PODS: "too many pods|insufficient pods|maximum number of pods",
    Constraint.CPU: "insufficient [^,.]*cpu",
    Constraint.MEMORY: "insufficient [^,.]*memory",
    Constraint.TAINT: "untolerated taint|had taint|taints that the pod didn't tolerate",
    Constraint.ANTI_AFFINITY: "anti-affinity",
    Constraint.AFFINITY: "pod affinity",
    # A message without any other reason has at least found no node.
    Constraint.NODE_SELECTOR: (
        "node selector|node affinity|didn't match pod requirements|no nodes available|"
        "nodes are available"
    ),
}
_PATTERNS: Final = {each: re.compile(words) for each, words in _WORDS.items()}


def constraint_in(message: str) -> Constraint:
    """What the message of a PodScheduled condition or of an event is about."""
    lower = message.lower()
    found = (each for each, pattern in _PATTERNS.items() if pattern.search(lower))
    return next(found, Constraint.UNKNOWN)
