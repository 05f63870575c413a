"""Where each program comes from: the first place that has it.

In this order: the path that the user names; PATH, if the version fits; the store in the cache
folder; the official releases, if they can be reached; sources, built with Go. The last two add to
the store, under a lock, so that of two commands running at the same time one makes the programs and
the other one waits.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from growth.cli.support import SUPPORTED_KUBERNETES, version_range
from growth.errors import Misconfigured
from kwok.building import Build, empty_workshop
from kwok.downloads import WrongDownload, checksums, download, release_of
from kwok.locks import locked
from kwok.named import answers, named_version
from kwok.toolchain import find_go, remove_our_go
from kwok.versions import (
    PROGRAMS,
    Program,
    ReleasedVersion,
    ReleaseProject,
    WantedVersions,
    go_version,
    version_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kwok.progress import Progress
    from kwok.store import ProgramStore

IN_CACHE: Final = "found in cache"
_MADE_WITHIN: Final = 3600.0
"""Seconds; a build from source takes six minutes on an idle machine."""


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A program that can be started."""

    program: Program
    version: ReleasedVersion
    path: Path
    origin: str
    seconds: float = 0.0

    @override
    def __str__(self) -> str:
        text = f"{self.program.name:<25}{self.version!s:<9}{self.origin}"
        return f"{text:<60}{self.seconds:6.1f} s"


@dataclass(frozen=True, slots=True)
class ProgramSearch:
    """One search: the wanted versions, the programs that the user names, and the store."""

    wanted: WantedVersions
    named: Mapping[str, Path]
    store: ProgramStore
    progress: Progress
    programs: Sequence[Program] = PROGRAMS

    def run(self) -> dict[str, FoundProgram]:
        """All programs, by name."""
        found: dict[str, FoundProgram] = {}
        self._take(found, self._named(self._missing(found)))
        self._take(found, self._on_path(self._missing(found)))
        self._take(found, self._in_store(self._missing(found)))
        if self._missing(found):
            with locked(self.store.lock, waiting=self._say_waiting, within=_MADE_WITHIN):
                self._fill_store(found)
        return found

    def _fill_store(self, found: dict[str, FoundProgram]) -> None:
        # Another command may have made them while we waited for the lock.
        self._take(found, self._in_store(self._missing(found)))
        try:
            self._take(found, self._downloaded(self._missing(found)))
            self._take(found, self._built(self._missing(found)))
        finally:
            shutil.rmtree(self.store.workshop, ignore_errors=True)

    def _missing(self, found: Mapping[str, FoundProgram]) -> list[Program]:
        return [program for program in self.programs if program.name not in found]

    def _take(self, found: dict[str, FoundProgram], finds: Iterator[FoundProgram]) -> None:
        started = time.monotonic()
        for find in finds:
            found[find.program.name] = replace(find, seconds=time.monotonic() - started)

    def _say_waiting(self) -> None:
        self.progress.wait("another command is making the programs: waiting for it")

    def _named(self, programs: Sequence[Program]) -> Iterator[FoundProgram]:
        places = {each: self.named[each.name] for each in programs if each.name in self.named}
        for program, answer in answers(places).items():
            path = places[program]
            yield self._check_named(
                FoundProgram(program, named_version(program, path, answer), path, "named")
            )

    def _check_named(self, found: FoundProgram) -> FoundProgram:
        """A named program is used whatever its version, unless the user also asks for a version."""
        project = found.program.project
        if project in self.wanted.exactly and not self.wanted.fits(found.program, found.version):
            raise Misconfigured(
                f"{found.path} is {found.version}, but --kube-version asks for "
                f"{self.wanted.versions[project]}; name another program or leave the version out"
            )
        return found

    def _on_path(self, programs: Sequence[Program]) -> Iterator[FoundProgram]:
        found = {program: shutil.which(program.name) for program in programs}
        places = {program: Path(place) for program, place in found.items() if place is not None}
        for program, answer in answers(places).items():
            version = version_in(answer)
            if version is not None and self.wanted.fits(program, version):
                yield FoundProgram(program, version, places[program], "found on PATH")

    def _in_store(self, programs: Sequence[Program]) -> Iterator[FoundProgram]:
        for program in programs:
            version = self.wanted.versions[program.project]
            path = self.store.path_of(program, version)
            if path.exists():
                yield FoundProgram(program, version, path, IN_CACHE)

    def _downloaded(self, programs: Sequence[Program]) -> Iterator[FoundProgram]:
        if not programs:
            return
        versions = self.wanted.versions
        releases = [release_of(program, versions[program.project]) for program in programs]
        for release, checksum in checksums(releases).items():
            empty_workshop(self.store.workshop)
            try:
                fetched = download(
                    release, checksum, folder=self.store.workshop, progress=self.progress
                )
            except WrongDownload as refusal:
                self.progress.say(f"not downloaded: {refusal}")
                continue
            version = versions[release.program.project]
            path = self.store.keep(fetched, release.program, version)
            yield FoundProgram(release.program, version, path, "downloaded")

    def _built(self, programs: Sequence[Program]) -> Iterator[FoundProgram]:
        if not programs:
            return
        self._check_buildable(programs)
        go = find_go(oldest=go_version(), cache=self.store.cache, progress=self.progress)
        names = ", ".join(program.name for program in programs)
        self.progress.say(
            f"building {names} with Go {go.version}; this takes minutes, but only once"
        )
        build = Build(go, self.wanted, self.store.workshop, self.progress)
        for together in self.by_module(programs):
            for program, made in build.make(together).items():
                version = self.wanted.versions[program.project]
                kept = self.store.keep(made, program, version)
                yield FoundProgram(program, version, kept, "built")
        remove_our_go(self.store.cache)

    def by_module(self, programs: Sequence[Program]) -> Iterator[list[Program]]:
        """Another version of Kubernetes is built in a module of its own."""
        for is_pinned in (True, False):
            together = [each for each in programs if self.wanted.is_pinned(each) == is_pinned]
            if together:
                yield together

    def _check_buildable(self, programs: Sequence[Program]) -> None:
        """Only versions that growth works with: others may not build with this Go."""
        asked = self.wanted.versions[ReleaseProject.KUBERNETES]
        lacking = [each.name for each in programs if each.project is ReleaseProject.KUBERNETES]
        oldest, newest = SUPPORTED_KUBERNETES
        if lacking and not oldest <= (asked.major, asked.minor) <= newest:
            raise Misconfigured(
                f"Kubernetes {asked} isn't available: {', '.join(lacking)} are not named, "
                "on PATH or in the cache, and can't be downloaded; growth works with Kubernetes "
                f"{version_range(SUPPORTED_KUBERNETES)}"
            )
