"""Measured use: whether a node has been used little for long enough.

A node counts as badly used only by what was measured, never for lack of a measurement. Both CPU and
memory must be below their thresholds, in at least 80 % of the samples of a window, and the newest
sample must be recent.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reconciler.core.measured import MeasuredUse, UseSample

FRESH: Final = 300.0
"""Seconds; an older newest sample says nothing about now."""
ENOUGH: Final = 80
"""Percent of the samples that must be below the thresholds."""


class UseThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Below which use a node is badly used, in percent, and how long that must last."""

    cpu: Fraction | int = 50
    memory: Fraction | int = 50
    window: float = 600.0

    def exceed(self, sample: UseSample) -> bool:
        """Whether both thresholds are above the use."""
        return sample.cpu.is_below(self.cpu) and sample.memory.is_below(self.memory)


def is_underused(samples: Sequence[UseSample], limits: UseThresholds, *, now: float) -> bool:
    """Whether enough samples of the window are below both thresholds."""
    recent = [each for each in samples if now - each.at <= limits.window]
    if not recent or now - max(each.at for each in recent) > FRESH:
        return False
    # Most nodes are busy, and that is known after a few samples.
    may_exceed = len(recent) * (100 - ENOUGH) // 100
    above = 0
    for each in reversed(recent):
        above += not limits.exceed(each)
        if above > may_exceed:
            return False
    return True


def has_lasted(seconds: float, duration: float) -> bool:
    """Whether a node was badly used for long enough to go."""
    return seconds >= duration


def underused_nodes(
    nodes: Iterable[str],
    samples: Mapping[str, Sequence[UseSample]],
    limits: UseThresholds,
    *,
    now: float,
) -> tuple[str, ...]:
    """The nodes of these that are badly used; a node without samples never is."""
    return tuple(name for name in nodes if is_underused(samples.get(name, ()), limits, now=now))


class UseVerdict(StrEnum):
    """What measured use says about a node."""

    USED = "used"
    UNDERUSED = "underused"
    UNKNOWN = "unknown"


class JudgedUse(NamedTuple):
    """The verdict, and why it can't be given if it can't."""

    verdict: UseVerdict
    why: str = ""


def judged_use(measured: MeasuredUse, limits: UseThresholds, *, now: float) -> JudgedUse:
    """Whether a node was badly used for the whole window; without figures nothing is said.

    A node that hasn't been watched for so long counts as used: after a restart, everything is
    watched anew.
    """
    if not measured.samples:
        return JudgedUse(UseVerdict.UNKNOWN, measured.problem)
    if now - measured.samples[-1].at > FRESH:
        why = measured.problem or "its figures are old"
        return JudgedUse(UseVerdict.UNKNOWN, f"{why} (for more than 5 minutes)")
    return measured.remembered(limits, partial(_judged_at_last, measured, limits=limits))


def _judged_at_last(measured: MeasuredUse, *, limits: UseThresholds) -> JudgedUse:
    """The verdict at the time of the last sample: the same until there is another one."""
    first, last = measured.samples[0].at, measured.samples[-1].at
    is_low = has_lasted(last - first, limits.window) and is_underused(
        measured.samples, limits, now=last
    )
    return JudgedUse(UseVerdict.UNDERUSED if is_low else UseVerdict.USED)
