"""When to believe a VPA, and what its recommendation means for the workload.

A VPA recommends a size for one pod from a day of history or more. When the number of replicas
changes, each pod gets another share of the load at once, but the recommendation follows only after
hours. Multiplied by the new number of replicas it would exaggerate the load, and a workload that
has just grown would grow again without more load. So the recommendation at the time of the change
is remembered, and until it has left the range between the old and the new share, the total of that
time counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

TOLERANCE: Final = Fraction(1, 10)
"""How far beyond both ends of the range a recommendation is still taken for an old one."""
HEADROOM: Final = Fraction(115, 100)
"""The VPA's own margin above measured use."""
ENOUGH_SAMPLES: Final = 8
"""Before the first samples, a VPA recommends its minimum and calls it a recommendation."""


@dataclass(frozen=True, kw_only=True)
class CountChange:
    """A change of the number of replicas, and what a VPA said of one size at that time."""

    before: int
    after: int
    target: Fraction
    """Its recommendation for one pod."""
    total: Fraction
    """The total that was decided on."""

    def explains(self, target: Fraction) -> bool:
        """Whether a recommendation may still be from before the change.

        It moves towards the new share of the total. After several changes, that isn't the share
        of what was recommended at the last one, because that was old itself.
        """
        low, high = sorted((self.target, self.total / self.after))
        return low * (1 - TOLERANCE) <= target <= high * (1 + TOLERANCE)


class TotalInEvidence(NamedTuple):
    """What a recommendation says about the whole workload."""

    total: Fraction
    is_stale: bool
    """Whether the recommendation is from before the last change of replicas."""


def evidence_of(
    target: Fraction, *, replicas: int, change: CountChange | None, used: Fraction | None = None
) -> TotalInEvidence:
    """The total that a VPA's recommendation for one pod stands for.

    `used` is the measured use of all pods; a load that has grown since is seen there first.
    """
    if change is None or not change.explains(target):
        return TotalInEvidence(target * replicas, is_stale=False)
    seen = change.total if used is None else max(change.total, used * HEADROOM)
    return TotalInEvidence(seen, is_stale=True)


def reason_to_doubt(conditions: Mapping[str, str], samples: int | None = None) -> str | None:
    """Why a VPA's recommendation isn't believed; None if it is.

    Conditions count before numbers: a VPA that fails keeps its last numbers. `samples` is None if
    nothing is known about them.
    """
    for name, trouble in _TROUBLE.items():
        if conditions.get(name) == "True":
            return trouble
    if conditions.get("RecommendationProvided", "True") != "True":
        return "the VPA has no recommendation yet"
    if samples is not None and samples < ENOUGH_SAMPLES:
        return f"the VPA has {samples} of {ENOUGH_SAMPLES} samples"
    return None


_TROUBLE: Final = {
    "ConfigUnsupported": "the VPA doesn't support its target (ConfigUnsupported)",
    "NoPodsMatched": "the VPA finds no pods of its target (NoPodsMatched)",
    "FetchingHistory": "the VPA is still loading its history (FetchingHistory)",
}
