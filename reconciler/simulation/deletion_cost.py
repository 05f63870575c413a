"""The deletion cost of pods in the simulated cluster, as growth writes and Kubernetes reads it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from growth.api.deletion_cost import DELETION_COST
from growth.kube.cache.resource import Key
from growth.kube.errors import Conflict, NotFound
from reconciler.simulation.server import Precondition

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import SetDeletionCost
    from reconciler.simulation.server import SimulatedApiServer


def write_deletion_cost(server: SimulatedApiServer, action: SetDeletionCost) -> None:
    """Annotate the pod as `reconciler.effects.deletion_cost` does."""
    with suppress(NotFound, Conflict):
        server.change(
            "pods",
            Key(action.namespace, action.name),
            lambda pod: _with_cost(pod, action.cost),
            on=Precondition(uid=action.uid),
        )


def deletion_cost_of(pod: Pod) -> int:
    """The cost that the ReplicaSet controller reads."""
    return int(pod.metadata.annotations.get(DELETION_COST, "0"))


def _with_cost(pod: Pod, cost: int) -> Pod:
    annotations = {**pod.metadata.annotations, DELETION_COST: str(cost)}
    metadata = msgspec.structs.replace(pod.metadata, annotations=annotations)
    return msgspec.structs.replace(pod, metadata=metadata)
