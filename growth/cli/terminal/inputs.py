"""The flag `-f` of all commands: files, folders, and `-` for standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from growth.api import files
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from growth.api.files import Manifests

MANIFEST_ENDINGS = {".yaml", ".yml", ".json"}


def add_files_argument(parser: argparse.ArgumentParser) -> argparse.Action:
    """Declare `-f`, as kubectl users expect it: a file, several files, or a repeated flag."""
    return parser.add_argument(
        "-f",
        "--filename",
        dest="files",
        metavar="FILE",
        nargs="+",
        action="extend",
        required=True,
        help="files, folders (including subfolders), or - for standard input",
    )


def manifest_texts(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name and text of each manifest, in a stable order."""
    for name in names:
        if name == "-":
            yield "standard input", _decoded("standard input", sys.stdin.buffer.read())
        else:
            for path in _manifests(Path(name)):
                yield str(path), _decoded(str(path), content(path))


def _manifests(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix in MANIFEST_ENDINGS)
    if not found:
        endings = ", ".join(sorted(MANIFEST_ENDINGS))
        raise Misconfigured(f"{path}: no manifests in this folder (looked for {endings})")
    return found


def content(path: Path) -> bytes:
    """The content of a file; raises `Misconfigured` if it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"{path}: {(error.strerror or 'not readable').lower()}") from None


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Misconfigured(f"{name}:{line}: not UTF-8 text") from None


def read_inputs(given: Iterable[tuple[str, str]]) -> Manifests:
    """The objects of all files; raises `Misconfigured` with their mistakes."""
    try:
        return files.read_documents(given)
    except files.Mistakes as mistakes:
        raise mistakes_of_inputs(mistakes) from None


def mistakes_of_inputs(mistakes: files.Mistakes) -> Misconfigured:
    """The mistakes in all files, one line each."""
    return Misconfigured(str(mistakes))
