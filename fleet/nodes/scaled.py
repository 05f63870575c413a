"""What the rules about compute nodes know of a cluster besides its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fleet.core.amounts import CapacityAmounts


@dataclass(frozen=True, kw_only=True)
class ScaledCluster:
    """A cluster whose nodes are scaled, and how."""

    model_t: CapacityAmounts
    """What one instance needs."""
    multi_az: bool
    scales: bool = True
    """Whether its fleet scales by itself."""
