"""`status.nominatedNodeName` in the simulated cluster: growth holds seats by it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from growth.kube.cache.resource import Key
from growth.kube.errors import Conflict, NotFound
from reconciler.simulation.server import Precondition

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import HoldSeat
    from reconciler.simulation.server import SimulatedApiServer


def write_nomination(server: SimulatedApiServer, seat: HoldSeat) -> None:
    """Hold a seat as `reconciler.effects.holding` does: the node opens even if that fails."""
    # A bound pod can't be nominated.
    with suppress(NotFound, Conflict):
        server.change(
            "pods",
            Key(seat.namespace, seat.name),
            lambda pod: pod if pod.spec.node_name else nominated_to(pod, seat.node),
            on=Precondition(uid=seat.uid),
        )


def nominated_to(pod: Pod, node: str) -> Pod:
    """The pod with this nomination; "" for none."""
    if pod.status.nominated_node_name == node:
        return pod
    status = msgspec.structs.replace(pod.status, nominated_node_name=node)
    return msgspec.structs.replace(pod, status=status)
