"""`python -m kwok`: a real control plane on this machine.

A subcommand is a module with `SUMMARY`, `add_arguments(parser)` and `run(arguments)`.
"""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING, Final, Protocol

from growth.errors import GrowthError
from kwok import demo, down, programs, status, up

if TYPE_CHECKING:
    from types import FrameType


class Subcommand(Protocol):
    """The interface of a subcommand's module."""

    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run it and return the exit code."""


COMMANDS: Final[dict[str, Subcommand]] = {
    "up": up,
    "down": down,
    "status": status,
    "programs": programs,
    "demo": demo,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m kwok", description="A local control plane.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.SUMMARY))
    parsed = parser.parse_args(arguments)
    # SIGTERM must take the same path as Ctrl-C, and programs that a shell starts in the background
    # ignore SIGINT at first.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, _interrupt)
    try:
        return COMMANDS[parsed.command].run(parsed)
    except GrowthError as failure:
        print(f"kwok: {failure}", file=sys.stderr)
        return 2
    except OSError as failure:
        # A full disk or a read-only folder: the system's own message names it.
        print(f"kwok: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("kwok: interrupted", file=sys.stderr)
        return 130


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
