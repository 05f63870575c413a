"""CSI drivers: their settings, the nodes that they run on, and the volumes they have attached."""

from __future__ import annotations

import msgspec

from growth.scheduling.metadata import Metadata


class DriverCapacity(msgspec.Struct, frozen=True, gc=False):
    """How many volumes of a driver a node can attach; None means no limit."""

    count: int | None = None


class NodeDriver(msgspec.Struct, frozen=True, gc=False):
    """A driver that is registered on a node."""

    name: str
    allocatable: DriverCapacity | None = None


class CSINodeSpec(msgspec.Struct, frozen=True, gc=False):
    """The drivers of a node."""

    drivers: tuple[NodeDriver, ...] | None = None


class CSINode(msgspec.Struct, frozen=True, gc=False):
    """What drivers report about the node with the same name."""

    metadata: Metadata = Metadata()
    spec: CSINodeSpec = CSINodeSpec()

    @property
    def drivers(self) -> tuple[NodeDriver, ...]:
        """The registered drivers."""
        return self.spec.drivers or ()

    @property
    def limits(self) -> dict[str, int]:
        """How many volumes each driver can attach, for drivers with a limit."""
        return {
            each.name: each.allocatable.count
            for each in self.drivers
            if each.allocatable is not None and each.allocatable.count is not None
        }


class CSIDriverSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The settings of a driver that concern scheduling."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(msgspec.Struct, frozen=True, gc=False):
    """A driver of the cluster."""

    metadata: Metadata = Metadata()
    spec: CSIDriverSpec = CSIDriverSpec()


class AttachmentSource(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The volume that is attached."""

    persistent_volume_name: str | None = None


class AttachmentSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Which volume is attached to which node by which driver."""

    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = AttachmentSource()


class VolumeAttachment(msgspec.Struct, frozen=True, gc=False):
    """A volume that is attached to a node, with or without a pod that uses it."""

    metadata: Metadata = Metadata()
    spec: AttachmentSpec = AttachmentSpec()
