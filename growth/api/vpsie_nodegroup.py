"""The NodeGroup of the VPSie autoscaler, as far as growth reads it: for people who come from there.

Its rules are checked in its own words, in the order of its own checks, so that a file that was
refused there is refused here for the same reason.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MANAGED_LABEL: Final = "autoscaler.vpsie.com/managed"
_VERSION: Final = re.compile(r"v?\d+\.\d+(\.\d+)?([-+].+)?")


class VpsieGroupSpec(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={
        "datacenter": "datacenterID",
        "offerings": "offeringIDs",
        "os_image": "osImageID",
        "least": "minNodes",
        "most": "maxNodes",
        "kubernetes_version": "kubernetesVersion",
        "preferred": "preferredInstanceType",
    },
):
    """What a NodeGroup asks for."""

    least: int = 0
    most: int = 0
    datacenter: str = ""
    offerings: tuple[str, ...] = ()
    os_image: str = ""
    kubernetes_version: str = ""
    preferred: str = ""

    @property
    def problems(self) -> Iterator[str]:
        """What is wrong with it, the first check first; the image is optional."""
        if self.least < 0:
            yield f"minNodes must be >= 0, got {self.least}"
        if self.most < 1:
            yield f"maxNodes must be >= 1, got {self.most}"
        if self.least > self.most:
            yield f"minNodes ({self.least}) must be <= maxNodes ({self.most})"
        if not self.datacenter:
            yield "datacenterID is required"
        if not self.offerings:
            yield "at least one offeringID is required"
        if not self.kubernetes_version:
            yield "kubernetesVersion is required"
        elif not _VERSION.fullmatch(self.kubernetes_version):
            yield f"invalid kubernetesVersion format: {self.kubernetes_version}"


def is_managed_group(labels: Mapping[str, str]) -> bool:
    """Whether the VPSie autoscaler was to manage the group; it leaves all others alone."""
    return labels.get(MANAGED_LABEL) == "true"
