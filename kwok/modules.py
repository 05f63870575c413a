"""The Go module that programs are built in.

It is the one beside this file, which pins everything by hash. For another version of Kubernetes, a
module is written that requires it. Parts of Kubernetes are released as modules of their own, which
its go.mod replaces by folders; that only counts in its own repository, so they are named here. Its
go.sum pins all that it takes from others, and Go's checksum database knows the hash of that file
and of those parts. So nothing is built that wasn't verified.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured
from kwok.versions import GO_MODULE, ReleaseProject

if TYPE_CHECKING:
    from pathlib import Path

    from kwok.versions import ReleasedVersion

FILES: Final = ("go.mod", "go.sum")
KUBERNETES: Final = ReleaseProject.KUBERNETES.value
EMPTY: Final = "module growth.dev/kwok\n"
_STAGING: Final = re.compile(r"^\s*(\S+) => \./staging/", re.MULTILINE)
_LANGUAGE: Final = re.compile(r"^go \S+$", re.MULTILINE)


def write_pinned_module(workshop: Path) -> None:
    """The module of the pinned versions."""
    for name in FILES:
        shutil.copyfile(GO_MODULE.with_name(name), workshop / name)


def write_module_of(version: ReleasedVersion, source: Path, workshop: Path) -> None:
    """The module of another version of Kubernetes, whose verified source is in a folder."""
    own = (source / "go.mod").read_text(encoding="utf-8")
    (workshop / "go.mod").write_text(go_module_of(version, own), encoding="utf-8")
    shutil.copyfile(source / "go.sum", workshop / "go.sum")


def go_module_of(version: ReleasedVersion, own: str) -> str:
    """The text of go.mod, by Kubernetes' own."""
    language, parts = _LANGUAGE.search(own), _STAGING.findall(own)
    if language is None or not parts:
        raise Misconfigured(f"the go.mod of Kubernetes {version} isn't understood")
    # The parts have the same numbers, except that their major version is still 0.
    of_parts = f"v0.{version.minor}.{version.patch}"
    lines = (
        EMPTY,
        f"{language[0]}\n",
        f"require {KUBERNETES} v{version}\n",
        *(f"replace {part} => {part} {of_parts}" for part in parts),
    )
    return "\n".join(lines) + "\n"
