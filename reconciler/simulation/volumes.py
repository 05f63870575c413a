"""Volumes of zones: a claim gets its volume where the first pod that uses it is to run.

The scheduler selects a node for a waiting claim, and the provisioner makes the volume in the zone
of that node a moment later. Until then the pod is nominated to its node. If the node disappears
meanwhile, the selection is undone, and the pod is tried again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.kube.cache.resource import Key, key_of
from growth.scheduling.storage import (
    BIND_COMPLETED,
    SELECTED_NODE,
    ClaimStatus,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from reconciler.simulation.chance import Chance
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.pod_traits import ZONE
from reconciler.simulation.server import with_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.simulation.surroundings import Surroundings

CLAIMS: Final = "claims"
VOLUMES: Final = "volumes"
STORAGE_CLASSES: Final = "storage_classes"
KINDS: Final = (CLAIMS, VOLUMES, STORAGE_CLASSES)
ZONAL: Final = "zonal"
"""The storage class."""
MADE_WITHIN: Final = (1.0, 8.0)
"""Seconds that the provisioner takes."""


def kinds_of_volumes(around: Surroundings) -> tuple[str, ...]:
    """The kinds to watch; none in seeds without volumes, which stay as they were."""
    return KINDS if SimulatedFault.VOLUMES in around.faults.kinds else ()


def claim_of(name: str, *, namespace: str) -> PersistentVolumeClaim:
    """A claim that waits for its first consumer."""
    document = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": ZONAL,
        },
        "status": {"phase": "Pending"},
    }
    return msgspec.convert(document, PersistentVolumeClaim)


class SimulatedVolumes:
    """The volume binder and the provisioner."""

    def __init__(self, around: Surroundings, retry: Callable[[Key], None]) -> None:
        self._server = around.server
        self._timeline = around.timeline
        self._chance = Chance(around.story.seed, "volumes")
        self._retry = retry
        if kinds_of_volumes(around):
            document = {
                "metadata": {"name": ZONAL},
                "provisioner": "zonal.example",
                "volumeBindingMode": "WaitForFirstConsumer",
            }
            around.server.create(STORAGE_CLASSES, msgspec.convert(document, StorageClass))

    def are_ready(self, pod: Pod, node: Node) -> bool:
        """Whether all claims of a pod have volumes; if not, they are made for this node."""
        unbound = [claim for claim in self._claims(pod) if not claim.is_bound]
        for claim in unbound:
            self._select(claim, node)
        if unbound:
            seconds = self._chance.between(*MADE_WITHIN)
            keys = tuple(map(key_of, unbound))
            self._timeline.after(seconds, self._provide, keys, node.name, key_of(pod))
        return not unbound

    def _claims(self, pod: Pod) -> list[PersistentVolumeClaim]:
        claims = self._server.kind(CLAIMS).objects
        found = (claims.get(Key(pod.metadata.namespace, use.name)) for use in pod.claims)
        return [claim for claim in found if claim is not None]

    def _select(self, claim: PersistentVolumeClaim, node: Node) -> None:
        said = {**claim.metadata.annotations, SELECTED_NODE: node.name}
        self._annotate(key_of(claim), said)

    def _annotate(self, key: Key, annotations: dict[str, str]) -> None:
        self._server.change(
            CLAIMS, key, lambda claim: with_metadata(claim, annotations=annotations)
        )

    def _provide(self, keys: tuple[Key, ...], place: str, pod: Key) -> None:
        node: Node | None = self._server.kind("nodes").named(place)
        for key in keys:
            if node is None:
                self._annotate(key, {})
            else:
                self._make(key, node.labels[ZONE])
        if pod in self._server.kind("pods").objects:
            self._retry(pod)

    def _make(self, key: Key, zone: str) -> None:
        claim: PersistentVolumeClaim = self._server.kind(CLAIMS).objects[key]
        volume = _volume(claim, zone)
        self._server.create(VOLUMES, volume)
        self._server.change(CLAIMS, key, lambda found: _bound(found, volume.metadata.name))


def _volume(claim: PersistentVolumeClaim, zone: str) -> PersistentVolume:
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    document: dict[str, Any] = {
        "metadata": {"name": f"pv-{claim.metadata.name}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {
                "namespace": claim.metadata.namespace,
                "name": claim.metadata.name,
                "uid": claim.metadata.uid,
            },
            "nodeAffinity": {
                "required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
            },
            "storageClassName": ZONAL,
        },
        "status": {"phase": "Bound"},
    }
    return msgspec.convert(document, PersistentVolume)


def _bound(claim: PersistentVolumeClaim, volume: str) -> PersistentVolumeClaim:
    said = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
    named: PersistentVolumeClaim = with_metadata(claim, annotations=said)
    spec = msgspec.structs.replace(named.spec, volume_name=volume)
    return msgspec.structs.replace(named, spec=spec, status=ClaimStatus(phase="Bound"))
