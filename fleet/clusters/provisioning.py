"""A new cluster, until its agent reports: what the provider says, and which state that is."""

from __future__ import annotations

from typing import Final

from fleet.core.provider import ProviderProgress
from fleet.core.states import ClusterState

_STATES: Final = {
    ProviderProgress.PENDING: ClusterState.PROVISIONING,
    ProviderProgress.INSTALLING: ClusterState.PROVISIONING,
    ProviderProgress.READY: ClusterState.PROVISIONED,
    ProviderProgress.ERROR: ClusterState.FAILED,
}


def state_by_provider(progress: ProviderProgress) -> ClusterState:
    """The state of a cluster that is being provisioned."""
    return _STATES[progress]


def state_after_installing(*, is_equipped: bool, agent_reports: bool) -> ClusterState:
    """The state of a provisioned cluster. If no agent will report, it is ready without one."""
    if not is_equipped:
        return ClusterState.PROVISIONED
    return ClusterState.WAITING if agent_reports else ClusterState.READY
