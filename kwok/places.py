"""Where programs and clusters are stored on this machine.

Programs are in the user's cache folder. Clusters are on a memory file system if there is one: etcd
waits for every write to reach the disk, and a cluster's data is useless after a restart anyway. The
memory file system of a container often has 64 MiB and a cluster needs 130, so a place counts only
if it has room for a few clusters.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOM_FOR_CLUSTERS: Final = 1 << 30
SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of our own in it, checked below


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The user's cache folder, created if it doesn't exist."""
    folder = _cache(environment)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise Misconfigured(
            f"can't create the cache folder {folder} ({failure.strerror}); "
            "set another one in XDG_CACHE_HOME"
        ) from None
    return folder


def failed_folder(name: str, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder with the logs of a cluster's last start, if that failed."""
    return _cache(environment) / "failed" / name


def clusters_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder for a new cluster: the first place that is ours, writable and large enough."""
    for folder in clusters_folders(environment):
        if _make_private(folder) and _has_room(folder):
            return folder
    return cache_folder(environment) / "clusters"


def locks_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder for locks on clusters: the same for all commands, however full the places are."""
    private = (folder for folder in clusters_folders(environment) if _make_private(folder))
    return next(private, cache_folder(environment))


def clusters_folders(environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """All places for clusters, the best one first."""
    yield SHARED_MEMORY / f"growth-{os.getuid()}"
    # The XDG specification says that relative paths are ignored.
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        yield Path(runtime) / "growth"
    yield _cache(environment) / "clusters"


def _cache(environment: Mapping[str, str]) -> Path:
    named = environment.get("XDG_CACHE_HOME", "")
    if named.startswith("/"):
        return Path(named) / "growth"
    # Unlike Path.home(), this returns something on a machine without a home directory.
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - see above
    return Path(home) / ".cache" / "growth"


def _make_private(folder: Path) -> bool:
    """Create a folder of ours, and refuse one that another user has put there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and not found.st_mode & 0o077 and os.access(folder, os.W_OK)


def _has_room(folder: Path) -> bool:
    space = os.statvfs(folder)
    return space.f_bavail * space.f_frsize >= ROOM_FOR_CLUSTERS
