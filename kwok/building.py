"""Build programs from source, which needs only the Go module proxy.

kwok/modules.py says which versions are built, and how they are verified. Go continues where an
interrupted build stopped, because it caches every package; we keep only finished programs. The
build runs in its own folder, so the repository may be read-only. Processes that a killed build has
left are found by that folder and ended before the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured
from kwok.interrupting import interrupted_only_after
from kwok.modules import EMPTY, KUBERNETES, write_module_of, write_pinned_module
from kwok.processes import end_processes
from kwok.versions import Program, ReleasedVersion, ReleaseProject, WantedVersions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kwok.progress import Progress
    from kwok.toolchain import Go

_VERSIONED_PACKAGES: Final = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
_SILENT_FOR: Final = 1200.0
"""Seconds; linking the largest program takes a minute on an idle machine."""
_NETWORK_WORDS: Final = ("dial tcp", "no such host", "i/o timeout", "connection refused", "TLS ")


@dataclass(frozen=True, slots=True)
class Build:
    """One build: with which Go, of which versions, and where."""

    go: Go
    wanted: WantedVersions
    workshop: Path
    progress: Progress

    def make(self, programs: Sequence[Program]) -> dict[Program, Path]:
        """Build the programs; the files are in the workshop, and the caller keeps them."""
        empty_workshop(self.workshop)
        mode = self._write_module(programs)
        packages = [program.package for program in programs]
        total = self._count(packages, mode)
        self._compile(packages, total)
        return {program: self._result(program) for program in programs}

    def _write_module(self, programs: Sequence[Program]) -> str:
        """Returns whether Go may add to it what it lacks, once that has been verified."""
        version = self.wanted.versions[ReleaseProject.KUBERNETES]
        if all(self.wanted.is_pinned(each) for each in programs):
            write_pinned_module(self.workshop)
            return "-mod=readonly"
        write_module_of(version, self._source_of(version), self.workshop)
        return "-mod=mod"

    def _source_of(self, version: ReleasedVersion) -> Path:
        """The folder with the source of Kubernetes, which Go has verified."""
        (self.workshop / "go.mod").write_text(EMPTY, encoding="utf-8")
        module, listed = f"{KUBERNETES}@v{version}", self.workshop / "source"
        self.progress.show(f"fetching Kubernetes {version}")
        self._run(["mod", "download", module], lambda _: None)
        with listed.open("w", encoding="utf-8") as output:
            arguments = ["list", "-m", "-f", "{{.Dir}}", module]
            self._run(arguments, lambda _: None, output=output.fileno())
        return Path(listed.read_text(encoding="utf-8").strip())

    def _count(self, packages: Sequence[str], mode: str) -> int:
        """The number of packages; Go downloads the modules in this step."""
        fetched = 0

        def report(line: str) -> None:
            nonlocal fetched
            fetched += line.startswith("go: downloading")
            self.progress.show(f"fetching modules: {fetched}")

        listed = self.workshop / "packages"
        with listed.open("w", encoding="utf-8") as output:
            self._run(["list", mode, "-deps", *packages], report, output=output.fileno())
        return len(listed.read_text(encoding="utf-8").split())

    def _compile(self, packages: Sequence[str], total: int) -> None:
        built = 0

        def report(line: str) -> None:
            nonlocal built
            built += 1
            self.progress.show(f"building: {built} of {total} packages, {line}")

        flags = [
            "-trimpath",
            "-buildvcs=false",
            "-v",
            "-ldflags",
            self._linker_flags(),
            "-o",
            "out/",
        ]
        self._run(["build", *flags, *packages], report)

    def _linker_flags(self) -> str:
        """What the release scripts also set; without it, the API server calls itself v0.0.0."""
        version = self.wanted.versions[ReleaseProject.KUBERNETES]
        values = {
            "gitVersion": f"v{version}",
            "gitMajor": version.major,
            "gitMinor": version.minor,
            "gitTreeState": "clean",
        }
        named = (
            f"-X {package}.{name}={value}"
            for package in _VERSIONED_PACKAGES
            for name, value in values.items()
        )
        return " ".join(["-s", "-w", *named])

    def _result(self, program: Program) -> Path:
        # Go names a program after the last part of its package that isn't a version.
        parts = [part for part in program.package.split("/") if part != "v3"]
        return self.workshop / "out" / parts[-1]

    def _run(
        self,
        arguments: Sequence[str],
        report: Callable[[str], None],
        *,
        output: int = subprocess.DEVNULL,
    ) -> None:
        """Run Go and report its output line by line; it never outlives us."""
        lines: list[str] = []
        with contextlib.ExitStack() as ended:
            with interrupted_only_after():
                process = ended.enter_context(self._started(arguments, output))
                ended.push(partial(_end_group, process))
            for line in _lines(process):
                lines.append(line)
                report(line)
        if process.returncode != 0:
            raise Misconfigured(explain(lines))

    def _started(self, arguments: Sequence[str], output: int) -> subprocess.Popen[bytes]:
        temporary = {"GOTMPDIR": str(self.workshop / "temporary")}
        return subprocess.Popen(
            [str(self.go.program), *arguments],
            cwd=self.workshop,
            env={**os.environ, **self.go.environment, **temporary},
            stdout=output,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """Go's output, line by line; if it is silent for too long, it is waiting for the network."""
    output, kept, last = process.stderr, b"", "no output"
    while output is not None and select.select([output], [], [], _SILENT_FOR)[0]:
        chunk = os.read(output.fileno(), 1 << 16)
        *whole, kept = (kept + chunk).split(b"\n") if chunk else (*filter(None, [kept]), b"")
        for line in whole:
            last = line.decode(errors="replace").rstrip()
            yield last
        if not chunk:
            return
    raise Misconfigured(
        f"the programs can't be built: Go has printed nothing for {_SILENT_FOR:.0f} s ({last}); "
        "set GOPROXY, or name the programs: --programs DIR"
    )


def _end_group(
    process: subprocess.Popen[bytes], failure: type[BaseException] | None, *_: object
) -> None:
    """Go's compilers are in its group; otherwise they would keep running."""
    if failure is not None:
        os.killpg(process.pid, signal.SIGKILL)


def empty_workshop(workshop: Path) -> None:
    """Remove what an interrupted build has left: processes and files."""
    end_processes(workshop, {"go"})
    shutil.rmtree(workshop, ignore_errors=True)
    for folder in ("out", "temporary"):
        (workshop / folder).mkdir(parents=True)


def explain(lines: Sequence[str]) -> str:
    """The relevant line of Go's error, and what to do about it."""
    said = [line.strip() for line in lines if line.strip()]
    complaints = [line for line in said if ":" in line and not line.startswith("go: downloading")]
    reason = (complaints or said or ["go gave no reason"])[-1]
    if any("no space left on device" in line for line in lines):
        return "the programs can't be built: the disk is full; 6 GB are needed while building"
    if any(word in line for line in lines for word in _NETWORK_WORDS):
        return (
            f"the programs can't be built: the Go module proxy can't be reached ({reason}); "
            "set GOPROXY, or name the programs: --programs DIR"
        )
    return f"the programs can't be built: {reason}"
