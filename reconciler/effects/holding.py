"""Holds a seat: writes `status.nominatedNodeName`, so that kube-scheduler leaves a pod its room.

The scheduler tries the named node first for the pod, and leaves it room there when it places other
pods of the same or a lower priority. It clears the field at the first try that fails, so nothing
has to be undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog

from growth.errors import GrowthError

if TYPE_CHECKING:
    from growth.kube.transport import Connection
    from reconciler.core.actions import HoldSeat

LONGEST: Final = 1.0
"""Seconds to wait for the answer: the node that opens next isn't kept closed any longer."""

_log = structlog.get_logger(__name__)


async def hold_seat(connection: Connection, seat: HoldSeat) -> None:
    """Name the node in the status of a pod; a failure is only logged."""
    path = f"/api/v1/namespaces/{seat.namespace}/pods/{seat.name}/status"
    # The uid makes sure that it is this pod. The version doesn't matter: the API server refuses a
    # pod that is bound, and the scheduler may have written the pod's condition anew meanwhile.
    body = {"metadata": {"uid": seat.uid}, "status": {"nominatedNodeName": seat.node}}
    merge = "application/merge-patch+json"
    try:
        await connection.request("PATCH", path, body=body, content_type=merge, timeout=LONGEST)
    except GrowthError as error:
        # The pod may still get its place, and a node that stays closed serves nobody.
        pod = f"{seat.namespace}/{seat.name}"
        _log.warning("could not hold a seat", pod=pod, node=seat.node, error=str(error))
