"""The answers of the policies, for the rules that come after them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.keeping.size import PoolSize
    from reconciler.scaling.scene import ScalingScene


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalingLedger:
    """The answers of the last pass."""

    sizes: Mapping[str, PoolSize] = field(default_factory=dict)
    """The sizes by pool."""
    scene: ScalingScene | None = None
    """What policies share within one pass; never kept for the next one."""
