"""How commands print: tables for people, JSON for programs, colour only on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import msgspec

from growth.cli.terminal.escaping import unbroken_line
from growth.colours import wants_colours

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping

_T = TypeVar("_T")

COLOURS: Mapping[str, str] = {"green": "32", "yellow": "33", "red": "31", "dim": "2"}


def add_output_argument(parser: argparse.ArgumentParser) -> None:
    """Declare `-o json`, which is the same for all commands."""
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="output format: text (default) or json",
    )


def coloured(text: str, colour: str) -> str:
    """The text in a colour, if standard output is a terminal that supports it."""
    if not wants_colours(sys.stdout):
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


async def print_steps(
    steps: AsyncIterator[tuple[str, _T]],
    arguments: argparse.Namespace,
    line: Callable[[str, _T], str],
) -> None:
    """Print the name and result of each step: at once for people, in one document for programs."""
    done: dict[str, _T] = {}
    async for name, outcome in steps:
        done[name] = outcome
        if arguments.output == "text":
            print(unbroken_line(line(name, outcome)))
    if arguments.output == "json":
        print_json(done)


def print_answer(arguments: argparse.Namespace, document: object, lines: Iterable[str]) -> None:
    """Print a complete answer: one document for programs, or lines for people."""
    if arguments.output == "json":
        print_json(document)
        return
    for line in lines:
        print(unbroken_line(line))


def print_json(value: object) -> None:
    """Print one document for programs."""
    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())
