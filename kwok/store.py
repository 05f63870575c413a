"""The programs in the cache: complete, or missing.

A program is written next to its final place, synced to disk, and renamed. So at any moment, also
after a power failure, the folder contains complete programs only. The version is part of the path,
so no program has to be run to find it out.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kwok.versions import PROGRAMS, Program, ReleasedVersion, ReleaseProject, version_in

if TYPE_CHECKING:
    from pathlib import Path

# Go's name for this machine's architecture, which is part of the file names of all releases.
ARCHITECTURE: Final = {"x86_64": "amd64", "aarch64": "arm64"}.get(
    platform.machine(), platform.machine()
)


@dataclass(frozen=True, slots=True)
class ProgramStore:
    """The programs under one cache folder."""

    cache: Path

    @property
    def lock(self) -> Path:
        """The lock for adding programs."""
        return self.cache / "programs.lock"

    @property
    def workshop(self) -> Path:
        """The folder for making programs, on the same file system, so that a rename is enough."""
        return self.cache / "workshop"

    def path_of(self, program: Program, version: ReleasedVersion) -> Path:
        """The path of a program of a version, whether it exists or not."""
        return self.folder_of(program.project, version) / program.name

    def folder_of(self, project: ReleaseProject, version: ReleasedVersion) -> Path:
        """The folder of the programs of a release, whether it exists or not."""
        release = f"{project.name.lower()}-{version}"
        return self.cache / "programs" / f"linux-{ARCHITECTURE}" / release

    def keep(self, made: Path, program: Program, version: ReleasedVersion) -> Path:
        """Move a finished program into the store."""
        place = self.path_of(program, version)
        place.parent.mkdir(parents=True, exist_ok=True)
        made.chmod(0o755)
        _to_disk(made)
        made.replace(place)
        _to_disk(place.parent)
        return place

    def kubernetes_versions(self) -> list[ReleasedVersion]:
        """The versions of Kubernetes for which all programs are in the store."""
        releases = (self.cache / "programs" / f"linux-{ARCHITECTURE}").glob("kubernetes-*")
        versions = filter(None, (version_in(release.name) for release in releases))
        return sorted(version for version in versions if self._is_whole(version))

    def _is_whole(self, version: ReleasedVersion) -> bool:
        ours = (program for program in PROGRAMS if program.project is ReleaseProject.KUBERNETES)
        return all(self.path_of(program, version).exists() for program in ours)


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
