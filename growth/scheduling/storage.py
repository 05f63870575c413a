"""Claims, volumes and their classes: storage as pods ask for it and as it is there."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import msgspec

from growth.scheduling import resources
from growth.scheduling.metadata import Metadata
from growth.scheduling.node_affinity import NodeSelector
from growth.scheduling.quantity import Amount
from growth.scheduling.selectors import LabelSelector

STORAGE: Final = "storage"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
# The provisioner of classes whose volumes are made by hand, such as local disks.
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
FILESYSTEM: Final = "Filesystem"
# Drivers have taken these over, with names and limits of their own that each node tells apart.
MIGRATED_PROVISIONERS: Final = frozenset(
    {
        "kubernetes.io/aws-ebs",
        "kubernetes.io/azure-disk",
        "kubernetes.io/azure-file",
        "kubernetes.io/cinder",
        "kubernetes.io/gce-pd",
        "kubernetes.io/portworx-volume",
        "kubernetes.io/vsphere-volume",
    }
)


class StorageRequests(msgspec.Struct, frozen=True, gc=False):
    """How much storage a claim asks for."""

    requests: dict[str, Amount] = {}


class ClaimSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a claim asks for, and the volume it got."""

    access_modes: tuple[str, ...] = ()
    resources: StorageRequests = StorageRequests()
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""


class ClaimStatus(msgspec.Struct, frozen=True, gc=False):
    """Pending, Bound or Lost."""

    phase: str = ""


class PersistentVolumeClaim(msgspec.Struct, frozen=True, dict=True):
    """A wish for storage; it lives in a namespace, its volume doesn't."""

    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def storage_class(self) -> str:
        """The class's name; the annotation is older and wins."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name or "")

    @property
    def is_bound(self) -> bool:
        """Whether the binding is finished on both sides."""
        # The volume's name alone may be a reservation by hand that the controller has yet to check.
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    @cached_property
    def size(self) -> int:
        """Bytes asked for."""
        return resources.parse_one(STORAGE, self.spec.resources.requests.get(STORAGE, 0))


class ClaimReference(msgspec.Struct, frozen=True, gc=False):
    """The claim that a volume belongs to."""

    namespace: str = ""
    name: str = ""
    uid: str = ""

    def is_to(self, claim: PersistentVolumeClaim) -> bool:
        """Whether it is this claim; a volume reserved by hand carries no uid yet."""
        there = (self.namespace, self.name)
        is_same = there == (claim.metadata.namespace, claim.metadata.name)
        return is_same and self.uid in {"", claim.metadata.uid}


class VolumeNodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """From where a volume can be reached."""

    required: NodeSelector | None = None


class CSISource(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A volume that a driver serves."""

    driver: str = ""
    volume_handle: str = ""


class Presence(msgspec.Struct, frozen=True, gc=False):
    """That a field is there; what is in it doesn't matter."""


class VolumeSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a volume is. The clouds' own in-tree kinds are only noticed."""

    capacity: dict[str, Amount] = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    csi: CSISource | None = None
    aws_elastic_block_store: Presence | None = None
    azure_disk: Presence | None = None
    azure_file: Presence | None = None
    cinder: Presence | None = None
    gce_persistent_disk: Presence | None = None
    portworx_volume: Presence | None = None
    vsphere_volume: Presence | None = None

    @property
    def migrated_kind(self) -> str | None:
        """The in-tree kind that a driver has taken over, whose rules are not known here."""
        kinds = {
            "awsElasticBlockStore": self.aws_elastic_block_store,
            "azureDisk": self.azure_disk,
            "azureFile": self.azure_file,
            "cinder": self.cinder,
            "gcePersistentDisk": self.gce_persistent_disk,
            "portworxVolume": self.portworx_volume,
            "vsphereVolume": self.vsphere_volume,
        }
        return next((kind for kind, source in kinds.items() if source is not None), None)


class VolumeStatus(msgspec.Struct, frozen=True, gc=False):
    """Available, Bound, Released or Failed."""

    phase: str = ""


class PersistentVolume(msgspec.Struct, frozen=True, dict=True):
    """A piece of storage."""

    metadata: Metadata = Metadata()
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()

    @property
    def storage_class(self) -> str:
        """The class's name; the annotation is older and wins."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name)

    @cached_property
    def size(self) -> int:
        """Bytes there are."""
        return resources.parse_one(STORAGE, self.spec.capacity.get(STORAGE, 0))

    @property
    def reach(self) -> NodeSelector | None:
        """The nodes that can mount it; None = every node."""
        return self.spec.node_affinity.required if self.spec.node_affinity else None

    def is_reachable_from(self, labels: dict[str, str]) -> bool:
        """Whether a node with these labels can mount it."""
        return self.reach is None or self.reach.matches("", labels)


class TopologyRequirement(msgspec.Struct, frozen=True, gc=False):
    """A label and the values it may have."""

    key: str
    values: tuple[str, ...] = ()


class TopologyTerm(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Labels that must hold together."""

    match_label_expressions: tuple[TopologyRequirement, ...] | None = None

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether a node with these labels is meant; a term without labels means none."""
        expressions = self.match_label_expressions or ()
        return bool(expressions) and all(
            labels.get(each.key) in each.values for each in expressions
        )


class StorageClass(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How and where volumes of a class are made."""

    metadata: Metadata = Metadata()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologyTerm, ...] | None = None

    @property
    def waits_for_consumer(self) -> bool:
        """Whether the volume is made where the first pod goes."""
        return self.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def can_provision(self) -> bool:
        """Whether new volumes are made on demand."""
        return self.provisioner not in {"", NO_PROVISIONER}

    def allows(self, labels: dict[str, str]) -> bool:
        """Whether a volume can be made for a node with these labels."""
        terms = self.allowed_topologies or ()
        return not terms or any(term.matches(labels) for term in terms)
