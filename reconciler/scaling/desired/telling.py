"""What the policy says in events, in the seed's words."""

from __future__ import annotations

from enum import StrEnum


class ScalingEvent(StrEnum):
    """The reason of an event on the pool."""

    SCALING_UP = "ScalingUp"
    SCALING_DOWN = "ScalingDown"
    SCALE_UP_FAILED = "ScaleUpFailed"
    SCALE_DOWN_BLOCKED = "ScaleDownBlocked"

    @property
    def is_warning(self) -> bool:
        """Whether a person should look at it."""
        return self in {ScalingEvent.SCALE_UP_FAILED, ScalingEvent.SCALE_DOWN_BLOCKED}
