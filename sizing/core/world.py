"""Everything that is known of the workloads to size, at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from growth.errors import WorldUnseen

if TYPE_CHECKING:
    from growth.api.hvpa import Hvpa
    from sizing.rule.workload import SizingSight


class SizingMode(StrEnum):
    """Whether sizes are applied."""

    OBSERVE = "Observe"
    APPLY = "Apply"


class SizingUnseen(WorldUnseen):
    """Not all objects are known, so nothing is decided."""


@dataclass(frozen=True, kw_only=True)
class SightOfTarget:
    """A workload that was found, and what watches it."""

    sight: SizingSight
    selector: str
    """The label selector of its pods."""
    containers: tuple[str, ...]
    """The containers of its pods."""
    others: tuple[str, ...] = ()
    """Who else changes its replicas or the sizes of its pods, for people."""


@dataclass(frozen=True, kw_only=True)
class HvpaInWorld:
    """One Hvpa with its workload."""

    hvpa: Hvpa
    target: SightOfTarget | None
    """None: there is no such workload."""
    is_current: bool = True
    """Whether the caches show all that this process has written about it."""


@dataclass(frozen=True, kw_only=True)
class SizingWorld:
    """All Hvpas."""

    hvpas: tuple[HvpaInWorld, ...] = field(default=())
    mode: SizingMode = SizingMode.OBSERVE
