"""Which pods of a workload Kubernetes deletes first when the workload is scaled down.

The ReplicaSet controller deletes pods with a lower cost first. It reads the cost from an annotation
of the pod, and a missing one counts as 0.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"


class PodDeletionCost(StrEnum):
    """Whether growth writes this annotation."""

    UNTOUCHED = "Untouched"
    BY_NODE = "ByNode"
