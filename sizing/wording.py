"""What holds a change up, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.hvpa_status import BlockedSize
from sizing.rule.applying import StepReason
from sizing.rule.blocking import BlockReason

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

OBSERVING: Final = "Observing"
NO_SOURCE: Final = "NoSource"
TARGET_NOT_FOUND: Final = "TargetNotFound"
INTERVALS_INVALID: Final = "IntervalsInvalid"

WORDS: Final[Mapping[str, str]] = {
    BlockReason.UPDATE_POLICY.value: "updateMode is Off for this direction",
    BlockReason.STABILIZATION_WINDOW.value: "stabilizationDuration isn't over",
    BlockReason.MAINTENANCE_WINDOW.value: "the maintenanceTimeWindow isn't open",
    BlockReason.MIN_CHANGE.value: "no total changes by minChange",
    BlockReason.PARADOXICAL_SCALING.value: "fewer pods would have to be larger",
    BlockReason.SOURCE_UNAVAILABLE.value: "no source can be believed; the size stays",
    BlockReason.REPLICAS_ZERO.value: "the workload has no replicas; it is left alone",
    StepReason.PAUSED.value: "the workload is paused",
    StepReason.ROLLOUT_IN_PROGRESS.value: "a rollout of the workload is under way",
    StepReason.OWNED_BY_OTHER.value: "somebody else owns what would be changed",
    StepReason.RESIZE_IN_PROGRESS.value: "a pod is being resized",
    StepReason.RESIZE_DEFERRED.value: "a pod's node has no room for the new size now",
    StepReason.RESIZE_INFEASIBLE.value: "a pod's node can't have room for the new size",
    StepReason.WRITE_REFUSED.value: "the API server has refused the change",
    StepReason.PODS_NOT_READY.value: "not all pods exist and are ready",
    NO_SOURCE: "neither hpa.deploy nor vpa.deploy is true: set one of them",
    OBSERVING: "this process only observes; desired is what it would do",
}
"""Reason -> message."""


def blocked_by(
    reason: BlockReason | StepReason | str, *, message: str = "", until: datetime | None = None
) -> BlockedSize:
    """A reason with its message."""
    word = reason if isinstance(reason, str) else reason.value
    return BlockedSize(reason=word, message=message or WORDS[word], until=until)
