"""What is measured of nodes: the CPU and memory that they really use.

Requests say what pods may use; this says what they do use. The two are never mixed: a policy names
its source, and this one is `metrics.k8s.io`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import msgspec

from growth.scheduling.remembering import Remembers

SOURCE: Final = "metrics.k8s.io"
"""Where measured use comes from, as texts name it."""
READ_EVERY: Final = 15.0
"""Seconds; metrics-server measures no more often."""


class UsedShare(msgspec.Struct, frozen=True, gc=False):
    """How much of something is used, as exact integers."""

    used: int
    of: int

    def is_below(self, percent: Fraction | int) -> bool:
        """Strictly; nothing is below if the node has nothing."""
        return self.used * 100 < percent * self.of

    @property
    def percent(self) -> Fraction:
        """For people and for orders."""
        return Fraction(self.used * 100, self.of) if self.of else Fraction(100)


class UseSample(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One measurement of a node."""

    at: float
    """In seconds since 1970, by the clock of the program that measured."""
    cpu: UsedShare
    memory: UsedShare

    @property
    def percent(self) -> Fraction:
        """The mean of both, in percent."""
        return (self.cpu.percent + self.memory.percent) / 2


class MeasuredUse(Remembers, frozen=True, kw_only=True, dict=True):
    """The samples of one node, the oldest first."""

    samples: tuple[UseSample, ...] = ()
    problem: str = ""
    """Why the last figures weren't taken, for people; empty if they were."""


NOT_MEASURED = MeasuredUse(problem=f"{SOURCE} has no figures of it")


class Measurements(msgspec.Struct, frozen=True, kw_only=True):
    """The measured use of all nodes."""

    nodes: Mapping[str, MeasuredUse] = {}
    problem: str = f"nothing was read from {SOURCE} yet"
    """Why nothing was read the last time, for people; empty if it was."""

    def of(self, node: str) -> MeasuredUse:
        """What is known of a node."""
        return self.nodes.get(node, NOT_MEASURED)
