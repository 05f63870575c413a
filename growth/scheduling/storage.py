"""PersistentVolumeClaims, PersistentVolumes and StorageClasses: the fields that growth reads."""

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
# The provisioner of classes whose volumes people create, such as local disks.
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
FILESYSTEM: Final = "Filesystem"
# CSI drivers have replaced these, with other names, and with limits that depend on the node.
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
    """How much storage a claim requests."""

    requests: dict[str, Amount] = {}


class ClaimSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a claim requests, and its volume."""

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
    """A request for storage; it is namespaced, its volume isn't."""

    metadata: Metadata = Metadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def storage_class(self) -> str:
        """The class's name; the annotation is older and wins."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name or "")

    @property
    def is_bound(self) -> bool:
        """Whether the binding is complete."""
        # With only the volume's name it may be a reservation that the controller hasn't checked.
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.metadata.annotations

    @cached_property
    def size(self) -> int:
        """The requested bytes."""
        return resources.parse_one(STORAGE, self.spec.resources.requests.get(STORAGE, 0))


class ClaimReference(msgspec.Struct, frozen=True, gc=False):
    """The claim that a volume belongs to."""

    namespace: str = ""
    name: str = ""
    uid: str = ""

    def is_to(self, claim: PersistentVolumeClaim) -> bool:
        """Whether it refers to this claim; a volume that a person reserved has no uid yet."""
        there = (self.namespace, self.name)
        is_same = there == (claim.metadata.namespace, claim.metadata.name)
        return is_same and self.uid in {"", claim.metadata.uid}


class VolumeNodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """The nodes that can mount a volume."""

    required: NodeSelector | None = None


class CSISource(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""


class Presence(msgspec.Struct, frozen=True, gc=False):
    """A field that is present; its content doesn't matter."""


class VolumeSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The spec of a volume. Of in-tree kinds of clouds only the presence is read."""

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
        """The in-tree kind that a CSI driver has replaced; its rules aren't known here."""
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
    """A volume."""

    metadata: Metadata = Metadata()
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()

    @property
    def storage_class(self) -> str:
        """The class's name; the annotation is older and wins."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name)

    @cached_property
    def size(self) -> int:
        """The capacity in bytes."""
        return resources.parse_one(STORAGE, self.spec.capacity.get(STORAGE, 0))

    @property
    def reach(self) -> NodeSelector | None:
        """The nodes that can mount it; None means all nodes."""
        return self.spec.node_affinity.required if self.spec.node_affinity else None

    def is_reachable_from(self, labels: dict[str, str]) -> bool:
        """Whether a node with these labels can mount it."""
        return self.reach is None or self.reach.matches("", labels)


class TopologyRequirement(msgspec.Struct, frozen=True, gc=False):
    """A label and the values it may have."""

    key: str
    values: tuple[str, ...] = ()


class TopologyTerm(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Labels that must all match."""

    match_label_expressions: tuple[TopologyRequirement, ...] | None = None

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether a node with these labels matches; a term without labels matches none."""
        expressions = self.match_label_expressions or ()
        return bool(expressions) and all(
            labels.get(each.key) in each.values for each in expressions
        )


class StorageClass(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How and where volumes of a class are provisioned."""

    metadata: Metadata = Metadata()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologyTerm, ...] | None = None

    @property
    def waits_for_consumer(self) -> bool:
        """Whether the volume is provisioned where the first pod runs."""
        return self.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def can_provision(self) -> bool:
        """Whether new volumes are provisioned on demand."""
        return self.provisioner not in {"", NO_PROVISIONER}

    def allows(self, labels: dict[str, str]) -> bool:
        """Whether a volume can be provisioned for a node with these labels."""
        terms = self.allowed_topologies or ()
        return not terms or any(term.matches(labels) for term in terms)
