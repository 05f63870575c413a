"""The programs that are kept: complete, or not there.

A program is written beside its place, brought to the disk, and renamed. Whoever reads the folder at
any moment, also after a power cut, finds a whole program or none. Its version is part of the path,
so nothing has to be run to know it.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kwok.versions import PROGRAMS, Program, ReleasedVersion, ReleaseProject, version_in

if TYPE_CHECKING:
    from pathlib import Path

# Go's name of this machine's architecture, which is part of every release's file names.
ARCHITECTURE: Final = {"x86_64": "amd64", "aarch64": "arm64"}.get(
    platform.machine(), platform.machine()
)


@dataclass(frozen=True, slots=True)
class ProgramStore:
    """The programs under one cache folder."""

    cache: Path

    @property
    def lock(self) -> Path:
        """Held by whoever adds programs."""
        return self.cache / "programs.lock"

    @property
    def workshop(self) -> Path:
        """Where programs are made; on the same file system, so that a rename is enough."""
        return self.cache / "workshop"

    def path_of(self, program: Program, version: ReleasedVersion) -> Path:
        """Where a program of a version lies, or would lie."""
        release = f"{program.project.name.lower()}-{version}"
        return self.cache / "programs" / f"linux-{ARCHITECTURE}" / release / program.name

    def keep(self, made: Path, program: Program, version: ReleasedVersion) -> Path:
        """Take a finished program into the store."""
        place = self.path_of(program, version)
        place.parent.mkdir(parents=True, exist_ok=True)
        made.chmod(0o755)
        _to_disk(made)
        made.replace(place)
        _to_disk(place.parent)
        return place

    def kubernetes_versions(self) -> list[ReleasedVersion]:
        """The versions of which every program is here."""
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
