"""An immutable snapshot of a cluster, for rules that look at more than one node.

It is made of indexes that are kept up to date anyway, so it costs only a few references. Some rules
need counts over all pods (anti-affinity, spread). They are computed when they are first needed and
kept with the snapshot, because all pods of a workload need the same ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec

from growth.scheduling.budgets import PodDisruptionBudget
from growth.scheduling.csi import CSIDriver, CSINode, VolumeAttachment
from growth.scheduling.daemonsets import DaemonSet
from growth.scheduling.node import Node
from growth.scheduling.occupancy import EMPTY, Occupancy
from growth.scheduling.pod import Pod
from growth.scheduling.remembering import Remembers
from growth.scheduling.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from growth.scheduling.workloads import DeviceClass, Namespace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.scheduling.metadata import Metadata

_T = TypeVar("_T")

Object = (
    Node
    | Pod
    | Namespace
    | PersistentVolumeClaim
    | PersistentVolume
    | StorageClass
    | CSINode
    | CSIDriver
    | VolumeAttachment
    | DaemonSet
    | PodDisruptionBudget
    | DeviceClass
)


NamespacedName = tuple[str, str]


class _HasMetadata(Protocol):
    @property
    def metadata(self) -> Metadata: ...


_Named = TypeVar("_Named", bound=_HasMetadata)


class Placed(NamedTuple):
    """A pod and its node."""

    pod: Pod
    node: Node


class Cluster(Remembers, frozen=True, dict=True, kw_only=True):
    """What the rules may look at. As in the scheduler, pods on nodes that don't exist are ignored.

    The mappings are read-only: the caller must not change them afterwards.
    """

    nodes: Mapping[str, Node] = {}
    occupancies: Mapping[str, Occupancy] = {}
    namespaces: Mapping[str, Namespace] = {}
    claims: Mapping[NamespacedName, PersistentVolumeClaim] = {}
    volumes: Mapping[str, PersistentVolume] = {}
    storage_classes: Mapping[str, StorageClass] = {}
    csi_nodes: Mapping[str, CSINode] = {}
    csi_drivers: Mapping[str, CSIDriver] = {}
    attachments: Mapping[str, VolumeAttachment] = {}
    device_classes: Mapping[str, DeviceClass] = {}
    daemon_sets: Mapping[NamespacedName, DaemonSet] = {}
    budgets: Mapping[NamespacedName, PodDisruptionBudget] = {}

    def occupancy(self, node: str) -> Occupancy:
        """The pods on a node; empty if there are none."""
        return self.occupancies.get(node, EMPTY)

    def with_node(self, node: Node, *, pods: tuple[Pod, ...] = ()) -> Cluster:
        """The cluster with this node added or replaced, and with more pods on it."""
        before = self.occupancy(node.name)
        held = Occupancy((*before.pods, *pods), before.ending)
        return self._replace(
            nodes={**self.nodes, node.name: node},
            occupancies={**self.occupancies, node.name: held},
        )

    def without_pod(self, pod: Pod) -> Cluster:
        """The cluster without this pod; the same object if the pod has no node."""
        # A nominated pod already counts on its node. It must not be rejected because of itself.
        held = self.occupancy(pod.place)
        if all(each.metadata.uid != pod.metadata.uid for each in held.pods):
            return self
        return self._replace(occupancies={**self.occupancies, pod.place: held.lacking(pod)})

    def _replace(self, **changed: Any) -> Cluster:
        return msgspec.structs.replace(self, **changed)

    def labels_of_namespace(self, name: str) -> Mapping[str, str]:
        """The labels of a namespace; empty if it isn't known."""
        namespace = self.namespaces.get(name)
        return namespace.metadata.labels if namespace else {}

    def placed_in(self, namespace: str) -> Iterator[Placed]:
        """The pods of a namespace that are on nodes."""
        for name, node in self.nodes.items():
            for pod in self.occupancy(name).by_namespace.get(namespace, ()):
                yield Placed(pod, node)

    @cached_property
    def ordered_nodes(self) -> tuple[Node, ...]:
        """All nodes sorted by name, for rules that decide on one node after another."""
        return tuple(node for _, node in sorted(self.nodes.items()))

    @cached_property
    def namespaces_in_use(self) -> tuple[str, ...]:
        """The namespaces of all pods on nodes, even if the namespace itself isn't known."""
        found = (each for name in self.nodes for each in self.occupancy(name).by_namespace)
        return tuple(dict.fromkeys(found))

    @cached_property
    def repelling(self) -> tuple[Placed, ...]:
        """The pods on nodes that have required anti-affinity."""
        return tuple(
            Placed(pod, node)
            for name, node in self.nodes.items()
            for pod in self.occupancy(name).repelling
        )

    @cached_property
    def claim_users(self) -> Mapping[NamespacedName, Pod]:
        """One pod for each claim that pods mount by name."""
        return {
            (pod.metadata.namespace, claim.name): pod
            for name in self.nodes
            for pod in self.occupancy(name).with_claims
            for claim in pod.claims
            # The claim of an ephemeral volume is made for its pod alone.
            if not claim.is_ephemeral
        }

    @cached_property
    def attachments_by_node(self) -> Mapping[str, tuple[VolumeAttachment, ...]]:
        """The attached volumes of each node."""
        found: defaultdict[str, list[VolumeAttachment]] = defaultdict(list)
        for attachment in self.attachments.values():
            found[attachment.spec.node_name].append(attachment)
        return {node: tuple(attachments) for node, attachments in found.items()}

    @cached_property
    def volumes_by_class(self) -> Mapping[str, tuple[PersistentVolume, ...]]:
        """The volumes of each class, sorted by size and then by name, so that answers repeat."""
        found: defaultdict[str, list[PersistentVolume]] = defaultdict(list)
        for volume in sorted(self.volumes.values(), key=_by_size):
            found[volume.storage_class].append(volume)
        return {name: tuple(volumes) for name, volumes in found.items()}


def _by_size(volume: PersistentVolume) -> tuple[int, str]:
    return volume.size, volume.metadata.name


def cluster_of(objects: Iterable[Object]) -> Cluster:
    """A snapshot of any mix of objects, for files and tests. Finished pods use nothing."""
    listed = _Listed(objects)
    return Cluster(
        nodes=listed.named(Node),
        occupancies=_occupancies(listed.of(Pod)),
        namespaces=listed.named(Namespace),
        claims={_key(each): each for each in listed.of(PersistentVolumeClaim)},
        volumes=listed.named(PersistentVolume),
        storage_classes=listed.named(StorageClass),
        csi_nodes=listed.named(CSINode),
        csi_drivers=listed.named(CSIDriver),
        attachments=listed.named(VolumeAttachment),
        device_classes=listed.named(DeviceClass),
        daemon_sets={_key(each): each for each in listed.of(DaemonSet)},
        budgets={_key(each): each for each in listed.of(PodDisruptionBudget)},
    )


class _Listed:
    """Objects grouped by kind."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._by_kind: defaultdict[type, list[Any]] = defaultdict(list)
        for each in objects:
            self._by_kind[type(each)].append(each)

    def of(self, kind: type[_T]) -> list[_T]:
        return self._by_kind[kind]

    def named(self, kind: type[_Named]) -> dict[str, _Named]:
        return {each.metadata.name: each for each in self.of(kind)}


def _key(each: PersistentVolumeClaim | DaemonSet | PodDisruptionBudget) -> NamespacedName:
    return each.metadata.namespace, each.metadata.name


def _occupancies(pods: Iterable[Pod]) -> Mapping[str, Occupancy]:
    by_node: defaultdict[str, list[Pod]] = defaultdict(list)
    ending: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.is_ending:
            ending[pod.place].append(pod)
        elif pod.place and not pod.is_finished:
            by_node[pod.place].append(pod)
    return {
        node: Occupancy(tuple(by_node[node]), tuple(ending[node]))
        for node in dict.fromkeys((*by_node, *ending))
    }
