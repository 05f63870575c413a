"""What the states of clusters mean for the rules."""

from __future__ import annotations

from typing import Final

from growth.api.cluster_state import ClusterState

__all__ = ["REPORTING", "WITHOUT_PROSPECT", "ClusterState"]

REPORTING: Final = frozenset(
    {ClusterState.WAITING, ClusterState.READY, ClusterState.SCALING_UP, ClusterState.FULL}
)
"""The states in which a report counts. In the others it is accepted and ignored."""

WITHOUT_PROSPECT: Final = frozenset({ClusterState.FULL, ClusterState.FAILED})
"""The states of clusters that will have no room, whatever becomes of their nodes."""
