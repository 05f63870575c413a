"""Writes the deletion cost of a pod, which Kubernetes reads when its workload is scaled down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.deletion_cost import DELETION_COST
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import Conflict, NotFound

if TYPE_CHECKING:
    from growth.kube.transport import Connection
    from reconciler.core.actions import SetDeletionCost


async def set_deletion_cost(connection: Connection, action: SetDeletionCost) -> None:
    """Annotate the pod, unless it is gone."""
    path = f"/api/v1/namespaces/{action.namespace}/pods/{action.name}"
    # The uid makes sure that it is this pod. Its version doesn't matter: kubelets write the status
    # all the time, and the cost depends only on the node.
    metadata = {"uid": action.uid, "annotations": {DELETION_COST: str(action.cost)}}
    try:
        await connection.request(
            "PATCH", path, body={"metadata": metadata}, content_type=MERGE_PATCH
        )
    except (NotFound, Conflict):
        return
