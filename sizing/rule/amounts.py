"""Amounts of a resource, of one pod or of a whole workload, and margins on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from growth.api.hvpa import Combine

NONE: Final = Fraction(0)


class Sized(NamedTuple):
    """What has a size of its own: a resource of a container."""

    container: str
    resource: str


Amounts: TypeAlias = Mapping[str, Fraction]
"""By resource."""
Sizes: TypeAlias = Mapping[Sized, Fraction]
"""By container and resource."""
Margins: TypeAlias = "Mapping[str, Margin]"
"""By resource."""


@dataclass(frozen=True, kw_only=True)
class Margin:
    """An absolute amount, a percentage of another amount, or both."""

    value: Fraction | None = None
    percentage: Fraction | None = None

    def of(self, whole: Fraction, *, combine: Combine = Combine.MAX) -> Fraction:
        """The margin of an amount; nothing if neither is given."""
        share = None if self.percentage is None else whole * self.percentage / 100
        given = [each for each in (self.value, share) if each is not None]
        return (max if combine is Combine.MAX else min)(given, default=NONE)


NO_MARGIN: Final = Margin()


def rounded_up(amount: Fraction) -> int:
    """The amount that is written into a pod."""
    return math.ceil(amount)
