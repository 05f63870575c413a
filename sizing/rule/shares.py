"""What one pod gets of a total, and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from growth.scheduling.resources import MEMORY
from sizing.rule.amounts import NONE

if TYPE_CHECKING:
    from sizing.rule.amounts import Margin

SPARE_MEMORY: Final = Fraction(12, 10)
"""A memory limit is never lowered below this multiple of the use."""


@dataclass(frozen=True, kw_only=True)
class CountStep:
    """From how many replicas to how many."""

    before: int
    after: int

    @property
    def is_change(self) -> bool:
        """Whether they differ."""
        return self.before != self.after


def share_of(total: Fraction, step: CountStep, *, request: Fraction, base: Margin) -> Fraction:
    """The part of a total for one pod.

    Each pod needs the base for itself, whatever its load. If the number of pods changes, the base
    of all of them is taken off, the load is divided, and the base of one is added again.
    """
    if not step.is_change:
        return total / step.after
    load = max(total - base.of(request) * step.before, NONE) / step.after
    return load + base.of(load)


def along(share: Fraction, *, request: Fraction, total_falls: bool, step: CountStep) -> Fraction:
    """The share, or the present request if the share goes against the direction of the total.

    With other pods, more load can mean less for each of them. A pod then keeps what it has.
    """
    if not step.is_change:
        return share
    return min(share, request) if total_falls else max(share, request)


def limit_with_gap(request: Fraction, *, replicas: int, gap: Margin) -> Fraction:
    """A limit, as far above the request as the gap says, of which each pod gets its part."""
    total = request * replicas
    return (total + gap.of(total)) / replicas


def limit_in_ratio(limit: Fraction, *, request: Fraction, before: Fraction) -> Fraction:
    """A limit in the same ratio to the request as before."""
    return limit * request / before if before else limit


def safe_limit(limit: Fraction, resource: str, *, present: Fraction, used: Fraction) -> Fraction:
    """A limit that a pod survives: memory in use can't be taken away."""
    if resource != MEMORY or limit >= present:
        return limit
    return max(limit, min(present, used * SPARE_MEMORY))
