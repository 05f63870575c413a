"""The stages of a node's life, and the time at which each of them began.

A request, a node and a removal tell together where a node stands. A stage stamps its times once: a
node that becomes ready a second time keeps the first time.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class NodeStage(StrEnum):
    """Where a node stands."""

    PENDING = "Pending"
    PROVISIONING = "Provisioning"
    PROVISIONED = "Provisioned"
    JOINING = "Joining"
    READY = "Ready"
    TERMINATING = "Terminating"
    DELETING = "Deleting"
    FAILED = "Failed"


STAMPS: Final[Mapping[NodeStage, tuple[str, ...]]] = {
    NodeStage.PROVISIONING: ("createdAt",),
    NodeStage.PROVISIONED: ("provisionedAt",),
    NodeStage.READY: ("joinedAt", "readyAt"),
    NodeStage.TERMINATING: ("terminatingAt",),
    NodeStage.DELETING: ("deletedAt",),
}
"""The times that begin with a stage."""


def stamped(
    times: Mapping[str, datetime], stage: NodeStage, *, now: datetime
) -> Mapping[str, datetime]:
    """The times when a stage begins: those that are known stay."""
    return {**dict.fromkeys(STAMPS.get(stage, ()), now), **times}
