"""`growth crds`: print growth's definitions, compare them with a cluster's, or apply them.

They are generated from the models each time. Applying refuses changes that would make stored
objects invalid.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from growth.api import crd
from growth.cli.cluster.connecting import add_connection_arguments, completed, connected
from growth.cli.terminal.output import (
    add_output_argument,
    coloured,
    print_answer,
    print_json,
    print_steps,
)
from growth.errors import Misconfigured
from growth.installation.definitions import Definition, apply_definitions, compared

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterator, Sequence

    from growth.installation.applying import ApplyOutcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("print", "check", "apply"),
        default="print",
        help="print them (default), check a cluster's against them, or apply them to a cluster",
    )
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        type=Path,
        help="write one file per kind to this folder instead of printing them",
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = "check exits with code 1 if a definition differs or is missing."


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    match arguments.action:
        case "check":
            return _check(arguments)
        case "apply":
            return _apply(arguments)
        case _:
            return _print(arguments)


def _print(arguments: argparse.Namespace) -> int:
    definitions, folder = crd.definition_files(), arguments.folder
    if folder is None and arguments.output == "json":
        print_json({"apiVersion": "v1", "kind": "List", "items": [*crd.definitions().values()]})
        return 0
    if folder is None:
        sys.stdout.write("---\n".join(definitions.values()))
        return 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in definitions.items():
            (folder / name).write_text(text)
    except OSError as error:
        raise Misconfigured(f"{error.filename}: {(error.strerror or str(error)).lower()}") from None
    return 0


def _check(arguments: argparse.Namespace) -> int:
    found = completed(_compared(arguments))
    print_answer(arguments, [_document(each) for each in found], comparison_lines(found))
    return int(any(each.installed is None or each.differences for each in found))


async def _compared(arguments: argparse.Namespace) -> list[Definition]:
    async with connected(arguments) as connection:
        return await compared(connection)


def _document(definition: Definition) -> dict[str, object]:
    return {
        "name": definition.name,
        "installed": definition.installed is not None,
        "differences": [asdict(each) for each in definition.differences],
    }


def comparison_lines(found: Sequence[Definition]) -> Iterator[str]:
    """The comparison as text."""
    for each in found:
        if each.installed is None:
            yield f"{each.name}: not installed"
        elif not each.differences:
            yield f"{each.name}: the same"
        else:
            yield f"{each.name}: {len(each.differences)} differences"
        for difference in each.differences:
            mark = coloured("narrower", "red") if difference.narrows else "wider   "
            yield f"  {mark}  {difference.path}: {difference.text}"


def _apply(arguments: argparse.Namespace) -> int:
    completed(print_steps(_applied(arguments), arguments, "{}: {}".format))
    return 0


async def _applied(arguments: argparse.Namespace) -> AsyncIterator[tuple[str, ApplyOutcome]]:
    async with connected(arguments) as connection:
        found = await compared(connection)
        outcomes = await apply_definitions(connection, found)
        for each, outcome in zip(found, outcomes, strict=True):
            yield each.name, outcome
