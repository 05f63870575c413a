"""What servers that boot need of this machine, and what of it is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.machines import cgroups
from tests.machines.image import image_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS: Final = ("unshare", "nsenter", "ip", "mount")
_TRIED: Final = "ip link add try0 type bridge && ip link add try1 type veth peer name try2"
"""In namespaces of its own."""


def missing() -> list[str]:
    """Each a phrase; nothing is missing if there is none."""
    return list(_missing())


def _missing() -> Iterator[str]:
    if sys.platform != "linux":
        yield "this isn't Linux"
        return
    if os.geteuid() != 0:
        yield "only root can make namespaces and control groups"
        return
    lacking = [each for each in TOOLS if shutil.which(each) is None]
    if lacking:
        yield f"not installed: {', '.join(lacking)}"
        return
    yield from _refused()
    if not image_folder().exists():
        yield "the image of servers isn't made (make programs)"


def _refused() -> Iterator[str]:
    """What the kernel, or the container that this runs in, doesn't allow."""
    apart = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", _TRIED]
    tried = subprocess.run(apart, capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        yield f"namespaces or network devices are refused: {tried.stderr.strip()}"
    if not cgroups.hierarchies():
        yield "no control groups are mounted"
        return
    name = f"try-{os.getpid()}"
    try:
        cgroups.make_group(name)
    except OSError as refusal:
        yield f"control groups can't be made: {refusal}"
    finally:
        cgroups.remove_group(name)


def skip_where_missing() -> None:
    """End a test whose machine lacks something, with its name."""
    lacking = missing()
    if lacking:
        pytest.skip(f"servers can't boot here: {'; '.join(lacking)}")
