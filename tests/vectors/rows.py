"""The rows: where they are, what they say, and which of them are to be run."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Json = dict[str, Any]
OWN_COPY = Path(__file__).parent
PARTS = {"name": str, "kind": str, "input": dict, "expected": dict}
"""What makes a row; whatever else it says is for people."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One reference row."""

    system: str
    name: str
    kind: str
    given: Json
    expected: Json
    flaw: str = ""
    """Why it is no row, if it is none."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which rows are to be run."""

    paths: tuple[Path, ...] = (OWN_COPY,)
    """Files, and folders of files."""
    systems: frozenset[str] | None = None
    """None: all of which the folder has a file."""
    kinds: frozenset[str] | None = None
    """None: all."""

    @classmethod
    def of(cls, environment: Mapping[str, str], paths: Sequence[str] = ()) -> Self:
        """What is asked for; without paths the environment names the folder, if it does."""
        folder = environment.get("GROWTH_VECTORS") or OWN_COPY
        return cls(
            paths=tuple(map(Path, paths or (folder,))),
            systems=_listed(environment.get("GROWTH_VECTORS_SYSTEMS", "")),
            kinds=_listed(environment.get("GROWTH_VECTORS_KINDS", "")),
        )


def chosen(choice: Choice) -> list[Row]:
    """The rows, in the order of the files. A file that isn't there is an error."""
    rows = [row for path in choice.paths for file in _files(path, choice) for row in _read(file)]
    return [row for row in rows if choice.kinds is None or row.flaw or row.kind in choice.kinds]


def choice_of_now(paths: Sequence[str] = ()) -> Choice:
    """As this process was told."""
    return Choice.of(os.environ, paths)


def _files(path: Path, choice: Choice) -> Iterable[Path]:
    if not path.is_dir():
        is_wanted = choice.systems is None or _system(path) in choice.systems
        return [path] if is_wanted else []
    if choice.systems is None:
        return sorted(path.glob("*.json"))
    return [path / f"{system}.json" for system in sorted(choice.systems)]


def _system(file: Path) -> str:
    """The first word of the file's name: rows of one system may be spread over several files."""
    return re.split(r"[^a-z]", file.stem)[0]


def _read(file: Path) -> Iterator[Row]:
    try:
        entries = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        entries = None
        flaw = f"is no JSON: {error}"
    else:
        flaw = "is no list of rows"
    if not isinstance(entries, list):
        yield Row(system=_system(file), name=str(file), kind="", given={}, expected={}, flaw=flaw)
        return
    for number, entry in enumerate(entries, start=1):
        yield _row(entry, file=file, number=number)


def _row(entry: Any, *, file: Path, number: int) -> Row:
    known = entry if isinstance(entry, dict) else {}
    lacking = [name for name, kind in PARTS.items() if not isinstance(known.get(name), kind)]
    parts = {name: kind() for name, kind in PARTS.items()} | (known if not lacking else {})
    return Row(
        system=_system(file),
        name=parts["name"] or f"row {number} of {file}",
        kind=parts["kind"],
        given=parts["input"],
        expected=parts["expected"],
        flaw=f"it has no {' and no '.join(lacking)}" if lacking else "",
    )


def _listed(text: str) -> frozenset[str] | None:
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    return names or None
