"""The volumes in a pod's spec, and the claims behind them.

A volume is decoded as a mapping from its kind to its source, not field by field: so a kind that
this version doesn't know keeps its name and can be reported instead of vanishing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class VolumeSource(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What is read of a volume's source, of whichever kind."""

    claim_name: str | None = None
    read_only: bool | None = None
    iqn: str | None = None
    medium: str | None = None


Volume = dict[str, str | VolumeSource | None]

CLAIM: Final = "persistentVolumeClaim"
EPHEMERAL: Final = "ephemeral"
ISCSI: Final = "iscsi"

# None of the scheduler's filters looks at these. CSI volumes without a claim are among them: the
# scheduler counts only claims against a driver's limit.
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
    """A claim that a pod mounts. Claims of ephemeral volumes must belong to the pod."""

    name: str
    is_ephemeral: bool


def sources(volumes: tuple[Volume, ...]) -> Iterator[tuple[str, str, VolumeSource]]:
    """Name, kind and source of every volume."""
    for volume in volumes:
        for kind, source in volume.items():
            if isinstance(source, VolumeSource):
                yield str(volume.get("name", "")), kind, source


def is_placed_anywhere(kind: str) -> bool:
    """Whether volumes of this kind have no say in where their pod goes."""
    return kind in _PLACED_ANYWHERE


def claims_of_pod(pod_name: str, volumes: tuple[Volume, ...]) -> tuple[ClaimUse, ...]:
    """The claims a pod uses, those of its ephemeral volumes under the name they will have.

    A claim that is mounted twice is there twice: the scheduler looks for a volume each time.
    """
    found: list[ClaimUse] = []
    for name, kind, source in sources(volumes):
        if kind == CLAIM:
            found.append(ClaimUse(source.claim_name or "", is_ephemeral=False))
        elif kind == EPHEMERAL:
            found.append(ClaimUse(f"{pod_name}-{name}", is_ephemeral=True))
    return tuple(found)


def iscsi_disks(volumes: tuple[Volume, ...]) -> Mapping[str, bool]:
    """The iSCSI targets a pod mounts by itself, and whether all its mounts are read-only."""
    disks: dict[str, bool] = {}
    for _, kind, source in sources(volumes):
        if kind == ISCSI and source.iqn is not None:
            disks[source.iqn] = disks.get(source.iqn, True) and bool(source.read_only)
    return disks


def unknown_kinds(volumes: tuple[Volume, ...]) -> tuple[str, ...]:
    """Kinds whose rules of placing are not known here, such as the clouds' own in-tree disks."""
    known = _PLACED_ANYWHERE | {CLAIM, EPHEMERAL, ISCSI}
    return tuple(sorted({kind for _, kind, _ in sources(volumes)} - known))
