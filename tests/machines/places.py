"""Addresses and folders of servers that boot."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kwok.places import cache_folder

METADATA_ADDRESS: Final = "169.254.169.254"
API_ADDRESS: Final = "10.0.0.2"
API_PORT: Final = 6443
GATEWAY: Final = "172.31.1.1"
PACKAGES_ADDRESS: Final = "172.31.1.2"


def machines_folder() -> Path:
    """Images, and the disks of servers that are running."""
    return cache_folder() / "machines"


def halls_folder() -> Path:
    """The disks."""
    return machines_folder() / "halls"


def only_child(process: int) -> int:
    """The process that another one has started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8").split()
    if len(children) != 1:
        raise ProcessLookupError(f"process {process} has {len(children)} children")
    return int(children[0])
