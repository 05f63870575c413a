"""`growth top`: how full each node is, what it costs and wastes, and why it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.lists import Lists, reading_lists, tell_left_out
from growth.cli.cluster.survey import surveyed
from growth.cli.terminal import screen
from growth.cli.terminal.output import add_output_argument, print_answer
from growth.cli.terminal.spans import add_every_argument, seconds_of
from growth.cli.top.bars import fleet_bars, fleet_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

ABOVE: Final = 7
"""Lines of the window that don't show nodes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_every_argument(parser, default="2s")
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "For example: growth top --every 5s, or growth top | head. On a terminal it updates until "
        "Ctrl-C; into a pipe or a file it prints once. PLAN is the number of pods that the node "
        "was bought for, WASTE the hourly cost of resources that no pod requests; growth explain "
        "node NAME shows more."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the nodes."""
    every = seconds_of(arguments.every, "--every")
    if arguments.output == "json" or not screen.is_terminal():
        completed(_once(arguments))
        return 0
    try:
        completed(_for_ever(arguments, every))
    except KeyboardInterrupt:
        # The way in which a view ends.
        return 0
    return 0


async def _once(arguments: argparse.Namespace) -> None:
    async with reading_lists(arguments) as lists:
        seen = await surveyed(lists)
    tell_left_out(seen.unreadable)
    found = fleet_bars(seen)
    print_answer(arguments, found, fleet_lines(found, seen.now.wall, seen.names))


async def _for_ever(arguments: argparse.Namespace, every: float) -> None:
    async with reading_lists(arguments) as lists:
        await screen.redrawn(lambda: _look(lists), every=every)


async def _look(lists: Lists) -> Sequence[str]:
    seen, most = await surveyed(lists), max(1, screen.height() - ABOVE)
    return list(fleet_lines(fleet_bars(seen), seen.now.wall, seen.names, most=most))
