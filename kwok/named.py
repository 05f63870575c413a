"""Programs that the user names, and what programs say about themselves.

A flag names a folder; variables name a folder or a single program, so that one program can be
tested with the others unchanged. A named program is used whatever its version.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import Misconfigured
from kwok.answering import NoAnswer, answer_of
from kwok.versions import NODE_PROGRAMS, PROGRAMS, Program, ReleasedVersion, number_in

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER_VARIABLE: Final = "GROWTH_KWOK_PROGRAMS"
_ANSWERS_WITHIN: Final = 60.0
_ALL: Final = (*PROGRAMS, *NODE_PROGRAMS)
_ASKED: Final = {"kubectl": ("version", "--client"), "kubeadm": ("version",)}
"""What those are told to print their version that have no such option."""


def named_programs(
    flag: Path | None, environment: Mapping[str, str] = os.environ
) -> dict[str, Path]:
    """The named path of each program: from the flag, its own variable, or the folder's variable."""
    variable = environment.get(FOLDER_VARIABLE)
    own = {each.name: environment.get(_variable(each), "") for each in _ALL}
    named = _in_folder(Path(variable), FOLDER_VARIABLE) if variable else {}
    named |= {name: Path(path).absolute() for name, path in own.items() if path}
    return named | (_in_folder(flag, "--programs") if flag else {})


def _variable(program: Program) -> str:
    return f"GROWTH_{program.name.upper().replace('-', '_')}"


def _in_folder(folder: Path, source: str) -> dict[str, Path]:
    if not folder.is_dir():
        raise Misconfigured(f"{folder} isn't a folder with programs; fix {source}")
    places = {each.name: folder.absolute() / each.name for each in _ALL}
    return {name: place for name, place in places.items() if place.exists()}


def answers(places: Mapping[Program, Path]) -> dict[Program, str]:
    """What each program prints when asked for its version; nothing if it can't be run."""
    if not places:
        return {}
    with ThreadPoolExecutor() as pool:
        return dict(zip(places, pool.map(_ask, *zip(*places.items(), strict=True)), strict=True))


def _ask(program: Program, path: Path) -> str:
    arguments = _ASKED.get(program.name, ("--version",))
    try:
        return answer_of([path, *arguments], within=_ANSWERS_WITHIN).stdout
    except (OSError, NoAnswer):
        return ""


def named_version(program: Program, path: Path, answer: str) -> ReleasedVersion:
    """The version of a named program; a program without one is rejected."""
    version = number_in(answer)
    if version is None:
        raise Misconfigured(f"{path} isn't a working {program.name}; name another one")
    return version
