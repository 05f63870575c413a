"""The rows: where they are, what they say, and which of them are to be run."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, Any]
OWN_COPY = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Row:
    """One reference row."""

    system: str
    name: str
    kind: str
    given: Json
    expected: Json


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which rows are to be run."""

    folder: Path = OWN_COPY
    systems: frozenset[str] | None = None
    """None: all of which the folder has a file."""
    kinds: frozenset[str] | None = None
    """None: all."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """What the environment asks for; an empty variable is one that isn't set."""
        return cls(
            folder=Path(environment.get("GROWTH_VECTORS") or OWN_COPY),
            systems=_listed(environment.get("GROWTH_VECTORS_SYSTEMS", "")),
            kinds=_listed(environment.get("GROWTH_VECTORS_KINDS", "")),
        )


def chosen(choice: Choice) -> list[Row]:
    """The rows, in the order of the files. A system without a file is an error."""
    rows = [row for file in _files(choice) for row in _read(file)]
    return [row for row in rows if choice.kinds is None or row.kind in choice.kinds]


def choice_of_now() -> Choice:
    """As this process was told."""
    return Choice.of(os.environ)


def _files(choice: Choice) -> Iterable[Path]:
    if choice.systems is None:
        return sorted(choice.folder.glob("*.json"))
    return [choice.folder / f"{system}.json" for system in sorted(choice.systems)]


def _read(file: Path) -> Iterable[Row]:
    for row in json.loads(file.read_text()):
        yield Row(
            system=file.stem,
            name=row["name"],
            kind=row["kind"],
            given=row["input"],
            expected=row["expected"],
        )


def _listed(text: str) -> frozenset[str] | None:
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    return names or None
