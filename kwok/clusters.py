"""The clusters of this user: one folder each, with everything that belongs to the cluster.

    NAME/cluster.json    our record; written first, so that an incomplete cluster can be removed
    NAME/kwokctl.json    the configuration for kwokctl
    NAME/clusters/NAME/  kwokctl's files: data, certificates, logs, process numbers, kubeconfig

Each cluster has its own work folder for kwokctl, so a broken one doesn't affect the others.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured
from kwok.locks import is_locked, locked
from kwok.places import clusters_folder, clusters_folders, failed_folder, locks_folder
from kwok.processes import StartedProcess, end_processes, processes_in, works_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

# The names of processes, which kwokctl derives from the names of its components.
COMPONENTS: Final = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok-controller",
)
_GROWTH: Final = frozenset({"python", "python3", *(f"python3.{minor}" for minor in range(11, 20))})
_PROCESSES: Final = frozenset({*COMPONENTS, "kwokctl", "kubectl", *_GROWTH})
_RECORD: Final = "cluster.json"


@dataclass(frozen=True, slots=True)
class LocalCluster:
    """One cluster, as recorded."""

    name: str
    folder: Path
    version: str = ""
    kubectl: Path = Path("kubectl")
    scheduler: str = ""
    ports: Mapping[str, int] = field(default_factory=dict)
    ready: bool = False
    extended: bool = False
    """Whether its scheduler calls growth's extender."""
    joinable: bool = False
    """Whether machines with a kubelet can join it with kubeadm."""

    @property
    def work(self) -> Path:
        """The work folder of kwokctl for this cluster."""
        return self.folder / "clusters" / self.name

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig file."""
        return self.work / "kubeconfig.yaml"

    @property
    def cloud(self) -> Path:
        """The folder in which its cloud works."""
        return self.folder / "cloud"

    @property
    def server(self) -> str:
        """The address of its API server."""
        return f"https://127.0.0.1:{self.ports['kube-apiserver']}"

    def address(self, use: str) -> str:
        """The address at which a process of growth listens, for one use of a port."""
        return f"127.0.0.1:{self.ports[use]}"

    def save(self) -> None:
        """Write the record; a concurrent reader sees the old one or the new one."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self.folder / f"{_RECORD}.new"
        written.write_text(json.dumps(asdict(self), default=str), "utf-8")
        written.rename(self.folder / _RECORD)

    def now_ready(self) -> LocalCluster:
        """Record that everything in it has answered once."""
        ready = replace(self, ready=True)
        ready.save()
        return ready

    def running(self) -> list[StartedProcess]:
        """Its components that are running."""
        return processes_in(self.folder, COMPONENTS)

    def growing(self) -> list[StartedProcess]:
        """The running processes of growth next to it."""
        selling = self.selling()
        return [each for each in processes_in(self.folder, _GROWTH) if each not in selling]

    def selling(self) -> list[StartedProcess]:
        """The running process of its cloud, if it has one with servers that boot."""
        return processes_in(self.cloud, _GROWTH)

    def ended(self) -> list[str]:
        """Its components that kwokctl has started and that have ended."""
        return [name for name in COMPONENTS if self._has_ended(name)]

    def _has_ended(self, component: str) -> bool:
        note = self.work / "pids" / f"{component}.pid"
        try:
            pid = int(note.read_text())
        except (OSError, ValueError):
            # It hasn't been started yet, or its number is being written.
            return False
        return not works_in(pid, self.folder)

    def remove(self) -> None:
        """End all its processes and remove its folder; a cluster's data isn't worth keeping."""
        # The record is removed last: as long as anything exists, the next command finds it.
        end_processes(self.folder, _PROCESSES)
        shutil.rmtree(self.work.parent, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep_logs(self) -> Path | None:
        """Copy the logs of its programs to a place that outlives the cluster, if possible."""
        kept = failed_folder(self.name)
        shutil.rmtree(kept, ignore_errors=True)
        # A full disk may be the cause of the failure, which must still be reported.
        with contextlib.suppress(OSError):
            kept.mkdir(parents=True)
            for log in (*self.folder.glob("*.log"), *(self.work / "logs").glob("*.log")):
                shutil.copyfile(log, kept / log.name)
        return kept if any(kept.glob("*.log")) else None

    def log(self, component: str) -> str:
        """The log of a component, as far as it exists."""
        try:
            return (self.work / "logs" / f"{component}.log").read_text("utf-8", errors="replace")
        except OSError:
            return ""


def checked_name(name: str) -> str:
    """A name that can be part of paths and labels."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", name):
        raise Misconfigured(
            f'--name "{name}" isn\'t a valid cluster name; '
            "use 1 to 40 lower-case letters, digits and dashes, such as growth-test"
        )
    return name


def find_cluster(name: str) -> LocalCluster | None:
    """The cluster with this name, wherever it is, complete or not."""
    folders = (place / name for place in clusters_folders())
    found = next((folder for folder in folders if folder.is_dir()), None)
    return None if found is None else _read(found)


def new_cluster(name: str, *, version: str, kubectl: Path, scheduler: str) -> LocalCluster:
    """A new cluster, in the best place."""
    return LocalCluster(name, clusters_folder() / name, version, kubectl, scheduler)


def all_clusters() -> Iterator[LocalCluster]:
    """All clusters of this user, by name."""
    folders = [
        folder for place in clusters_folders() if place.is_dir() for folder in place.iterdir()
    ]
    for folder in sorted(folders, key=lambda each: each.name):
        if _is_ours(folder):
            yield _read(folder)


def _is_ours(folder: Path) -> bool:
    """Whether a cluster of this user is there and isn't being removed."""
    with contextlib.suppress(FileNotFoundError):
        return folder.is_dir() and folder.stat().st_uid == os.getuid()
    return False


def cluster_lock(name: str, *, waiting: Callable[[], None]) -> AbstractContextManager[None]:
    """Only one command at a time works on a cluster."""
    return locked(_lock_of(name), waiting=waiting)


def is_worked_on(name: str) -> bool:
    """Whether a command is starting or ending it now."""
    return is_locked(_lock_of(name))


def _lock_of(name: str) -> Path:
    return locks_folder() / f"{name}.lock"


def _read(folder: Path) -> LocalCluster:
    """The recorded cluster; an unreadable record means that it is incomplete."""
    try:
        record = json.loads((folder / _RECORD).read_text("utf-8"))
        paths = {"folder": folder, "kubectl": Path(record["kubectl"])}
        return LocalCluster(**(record | paths))
    except (OSError, ValueError, TypeError, LookupError):
        return LocalCluster(folder.name, folder)
