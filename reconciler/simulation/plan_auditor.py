"""Checks what growth promises: the pods of a NodeRequest can run together on its machine.

And a machine for a pod is bought in the zone of the pod's volumes.
"""

from __future__ import annotations

from datetime import datetime
from itertools import permutations
from typing import TYPE_CHECKING, Final

from growth.api.noderequest import NodeRequest
from reconciler.simulation.pod_traits import HOST, ZONE
from reconciler.simulation.volumes import CLAIMS, VOLUMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from growth.scheduling.pod import Pod
    from growth.scheduling.storage import PersistentVolume
    from reconciler.providers.port import Order
    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

NEAR: Final = "machines are where the volumes of their pods are"
KNOWN_WITHIN: Final = 300.0
"""Seconds within which a process knows of a volume, whatever is late or lost."""
APART: Final = "pods that avoid each other aren't planned together"


class PlanAuditor:
    """Looks at each new request with the pods that wait for it."""

    def __init__(
        self, around: Surroundings, cloud: SimulatedCloud, *, breach: Callable[[str, str], None]
    ) -> None:
        self._server = around.server
        self._breach = breach
        self._made = cloud.made
        cloud.made = self._machine_made
        around.server.kind(NodeRequest.__name__).heard_by.append(self._request_changed)

    def _request_changed(self, event: StoredChange) -> None:
        if event.old is not None:
            return
        request: NodeRequest = event.new
        for one, other in permutations(self._waiting(request), 2):
            if _avoids(one, other):
                text = f"{request.name} is for {one.name}, which avoids {other.name}"
                self._breach(APART, text)

    def _machine_made(self, order: Order) -> None:
        self._made(order)
        request: NodeRequest | None = self._server.kind(NodeRequest.__name__).named(order.name)
        if request is None:
            return
        for pod in self._waiting(request):
            for volume in self._volumes_of(pod):
                is_known = _was_there(volume, request)
                if is_known and not volume.is_reachable_from({ZONE: order.location}):
                    text = f"{order.name} in {order.location} is for {pod.name}"
                    self._breach(NEAR, f"{text}, not near {volume.metadata.name}")

    def _volumes_of(self, pod: Pod) -> Iterator[PersistentVolume]:
        claims, volumes = self._server.kind(CLAIMS), self._server.kind(VOLUMES)
        for use in pod.claims:
            claim = claims.named(use.name, namespace=pod.metadata.namespace)
            volume = None if claim is None else volumes.named(claim.spec.volume_name)
            if volume is not None:
                yield volume

    def _waiting(self, request: NodeRequest) -> list[Pod]:
        pods = self._server.kind("pods")
        found = (pods.named(each.name, namespace=each.namespace) for each in request.spec.pods)
        return [pod for pod in found if pod is not None and not pod.spec.node_name]


def _was_there(volume: PersistentVolume, request: NodeRequest) -> bool:
    """Whether a process knew of the volume when it wrote the request."""
    made, asked = volume.metadata.creation_timestamp, request.metadata.creation_timestamp
    if made is None or asked is None:
        return False
    return (asked - datetime.fromisoformat(made)).total_seconds() > KNOWN_WITHIN


def _avoids(one: Pod, other: Pod) -> bool:
    """Whether one pod keeps off every node with the other."""
    return any(
        term.topology_key == HOST and term.means(other.metadata, {})
        for term in one.anti_affinity_terms
    )
