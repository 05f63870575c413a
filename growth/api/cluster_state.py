"""The states of a cluster of a fleet. A cluster is in exactly one of them."""

from __future__ import annotations

from enum import StrEnum


class ClusterState(StrEnum):
    """What a cluster is doing. Agents and people of KAS know these names."""

    ACCEPTED = "cluster_accepted"
    """Decided on; nothing has been asked for yet."""
    PROVISIONING = "cluster_provisioning"
    PROVISIONED = "cluster_provisioned"
    """It exists; its agent isn't installed yet."""
    WAITING = "waiting_for_kas_fleetshard_operator"
    """Its agent is installed, and hasn't reported yet that it is ready."""
    READY = "ready"
    """It has room for one more instance."""
    SCALING_UP = "compute_node_scaling_up"
    """It has no room now, and may have more compute nodes."""
    FULL = "full"
    """It has no room, and may not have more compute nodes."""
    FAILED = "failed"
    DEPROVISIONING = "deprovisioning"
