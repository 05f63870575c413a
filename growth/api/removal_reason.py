"""Why a machine is given back, and what follows from each reason.

The table only says what the objects mean. So both the reconciler's rules and the invariants may
read it, although these must share no judgement.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from growth.api.disruption import DisruptionReason

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class RemovalMeaning:
    """What follows from a reason."""

    drains: bool = False
    """Pods are moved off the node first. Without this, a pod on the node cancels the removal."""
    is_optional: bool = False
    """The node could also stay, so a protected pod, or a person, ends the removal."""
    saves: bool = False
    """It is done to save money."""
    is_reusable: bool = False
    """The node goes only because nothing needs it: until the provider is asked, pods may use it."""
    disruption: DisruptionReason | None = None
    """What a pool's disruption budgets count it as; None if they don't count it."""

    @property
    def may_end_pods(self) -> bool:
        """Whether pods may be ended if their time is up: never to save money."""
        return self.drains and not self.saves


class RemovalReason(StrEnum):
    """Why a machine is given back."""

    IDLE = "Idle"
    NEVER_JOINED = "NeverJoined"
    CREATE_FAILED = "CreateFailed"
    ORPHAN = "Orphan"
    CONSOLIDATION = "Consolidation"
    DRIFT = "Drift"
    UNHEALTHY = "Unhealthy"
    POOL_DELETED = "PoolDeleted"
    SURPLUS = "Surplus"

    @property
    def meaning(self) -> RemovalMeaning:
        """What follows from it."""
        return MEANINGS[self]


MEANINGS: Final[Mapping[RemovalReason, RemovalMeaning]] = {
    RemovalReason.IDLE: RemovalMeaning(is_optional=True, saves=True, is_reusable=True),
    RemovalReason.NEVER_JOINED: RemovalMeaning(),
    RemovalReason.CREATE_FAILED: RemovalMeaning(),
    RemovalReason.ORPHAN: RemovalMeaning(),
    RemovalReason.CONSOLIDATION: RemovalMeaning(
        drains=True, is_optional=True, saves=True, disruption=DisruptionReason.CONSOLIDATION
    ),
    RemovalReason.DRIFT: RemovalMeaning(
        drains=True, is_optional=True, disruption=DisruptionReason.DRIFT
    ),
    RemovalReason.UNHEALTHY: RemovalMeaning(drains=True, disruption=DisruptionReason.UNHEALTHY),
    RemovalReason.POOL_DELETED: RemovalMeaning(drains=True),
    RemovalReason.SURPLUS: RemovalMeaning(drains=True, is_optional=True, saves=True),
}

REMOVAL_REASONS: Final[Mapping[DisruptionReason, RemovalReason]] = {
    meaning.disruption: reason
    for reason, meaning in MEANINGS.items()
    if meaning.disruption is not None
}
"""The reason for the removal of a node, by the reason for its replacement."""
