"""The volumes in a pod's spec, and their claims.

A volume is decoded as a mapping from its kind to its source, not field by field. So a kind that
this version doesn't know keeps its name and can be reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class VolumeSource(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The fields that growth reads of a volume's source, of any kind."""

    claim_name: str | None = None
    read_only: bool | None = None
    iqn: str | None = None
    medium: str | None = None


Volume = dict[str, str | VolumeSource | None]

CLAIM: Final = "persistentVolumeClaim"
EPHEMERAL: Final = "ephemeral"
ISCSI: Final = "iscsi"

# The scheduler's filters ignore these. Inline CSI volumes are among them: only claims count against
# the limit of a driver.
_PLACED_ANYWHERE: Final = frozenset(
    {
        "cephfs",
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "fc",
        "flexVolume",
        "flocker",
        "gitRepo",
        "glusterfs",
        "hostPath",
        "image",
        "nfs",
        "projected",
        "quobyte",
        "scaleIO",
        "secret",
        "storageos",
    }
)


class ClaimUse(NamedTuple):
    """A claim that a pod mounts. The claim of an ephemeral volume must belong to the pod."""

    name: str
    is_ephemeral: bool


def sources(volumes: tuple[Volume, ...]) -> Iterator[tuple[str, str, VolumeSource]]:
    """The name, kind and source of each volume."""
    for volume in volumes:
        for kind, source in volume.items():
            if isinstance(source, VolumeSource):
                yield str(volume.get("name", "")), kind, source


def is_placed_anywhere(kind: str) -> bool:
    """Whether volumes of this kind don't restrict where their pod can run."""
    return kind in _PLACED_ANYWHERE


def claims_of_pod(pod_name: str, volumes: tuple[Volume, ...]) -> tuple[ClaimUse, ...]:
    """The claims of a pod; those of ephemeral volumes by the name that they will have.

    A claim that is mounted twice is listed twice: the scheduler looks for a volume each time.
    """
    found: list[ClaimUse] = []
    for name, kind, source in sources(volumes):
        if kind == CLAIM:
            found.append(ClaimUse(source.claim_name or "", is_ephemeral=False))
        elif kind == EPHEMERAL:
            found.append(ClaimUse(f"{pod_name}-{name}", is_ephemeral=True))
    return tuple(found)


def iscsi_disks(volumes: tuple[Volume, ...]) -> Mapping[str, bool]:
    """The iSCSI targets that a pod mounts without a claim, and whether all mounts are read-only."""
    disks: dict[str, bool] = {}
    for _, kind, source in sources(volumes):
        if kind == ISCSI and source.iqn is not None:
            disks[source.iqn] = disks.get(source.iqn, True) and bool(source.read_only)
    return disks


def unknown_kinds(volumes: tuple[Volume, ...]) -> tuple[str, ...]:
    """The kinds whose scheduling rules aren't known here, such as in-tree disks of clouds."""
    known = _PLACED_ANYWHERE | {CLAIM, EPHEMERAL, ISCSI}
    return tuple(sorted({kind for _, kind, _ in sources(volumes)} - known))
