"""Starts a hall in namespaces of its own, and removes what outlives these.

The kernel ends processes, networks and mounts with their namespaces; control groups and folders
stay. So the keeper stands outside, in a session of its own, and waits for the end of the hall.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.machines import cgroups
from tests.machines.places import halls_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

_APART: Final = ("unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child")


def main(words: Iterable[str]) -> None:
    """Keep one hall."""
    name, image = words
    sweep()
    folder = halls_folder() / name
    folder.mkdir(parents=True)
    hall = (sys.executable, "-m", "tests.machines.hall", name, str(folder), image)
    try:
        subprocess.run([*_APART, "--mount-proc", *hall], check=False)
    finally:
        remove_rests(name)


def name_of(process: int, number: int) -> str:
    """The name of a hall, by which a later one can tell that its keeper was killed."""
    return f"{process}-{number}"


def sweep() -> None:
    """Remove what halls have left whose keeper was killed."""
    named = {group.name for group in _first_below(cgroups.hierarchies())}
    with contextlib.suppress(FileNotFoundError):
        named |= {folder.name for folder in halls_folder().iterdir()}
    for name in named:
        owner = name.partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            remove_rests(name)


def _first_below(hierarchies: Iterable[cgroups.Hierarchy]) -> Iterable[Path]:
    for each in hierarchies:
        with contextlib.suppress(FileNotFoundError):
            yield from (it for it in (each.mounted_at / cgroups.OURS).iterdir() if it.is_dir())


def remove_rests(name: str) -> None:
    """Its control groups and its folder."""
    cgroups.remove_group(name)
    shutil.rmtree(halls_folder() / name, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
