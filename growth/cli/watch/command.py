"""`growth watch`: events as they happen, in a view on a terminal or as plain lines in a pipe."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.lists import reading_lists
from growth.cli.cluster.names import ALONE
from growth.cli.status import command as status
from growth.cli.status.overview import overview
from growth.cli.status.watched import NOTHING, WatchedCluster, watched
from growth.cli.terminal import screen
from growth.cli.terminal.escaping import unbroken_line
from growth.cli.terminal.money import hourly_each
from growth.cli.terminal.output import add_output_argument
from growth.cli.terminal.spans import add_every_argument, seconds_of
from growth.cli.terminal.texts import wrapped
from growth.cli.watch.happenings import Happening, happenings
from growth.cli.watch.settling import Settling
from growth.clocks import wall_clock
from growth.errors import RetryLater

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterable, Sequence

    from growth.cli.cluster.lists import Lists
    from growth.cli.cluster.names import ShortNames

REMEMBERED: Final = 500
"""The most events that a view keeps."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_every_argument(parser, default="1s")
    parser.add_argument(
        "--until-settled",
        action="store_true",
        help="exit when no pod waits that can be placed and no node is added or removed; exit code "
        "1 if there is work but growth doesn't do it",
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "For example: growth watch, or growth watch --until-settled | tee night.log. On a "
        "terminal it shows the status and the latest events; into a pipe it prints one line per "
        "event, with -o json one object. Ctrl-C ends it."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print events until the end."""
    every = seconds_of(arguments.every, "--every")
    is_view = arguments.output == "text" and screen.is_terminal() and not arguments.until_settled
    try:
        completed(_view(arguments, every) if is_view else _lines(arguments, every))
    except KeyboardInterrupt:
        # The way in which it ends.
        return 0
    return 0


async def _lines(arguments: argparse.Namespace, every: float) -> None:
    """Print a line for each event; a failed read is reported on standard error by the next one."""
    async with reading_lists(arguments) as lists:
        before, settling = await watched(lists), Settling()
        for each in happenings(NOTHING, WatchedCluster(trouble=before.trouble), wall_clock()):
            print(unbroken_line(line_of(each, arguments.output)), flush=True)
        if arguments.output == "text":
            print(_beginning(before), flush=True)
        async for after in _looks(lists, before, every=every):
            names = after.names
            for each in happenings(before, after, wall_clock()):
                print(unbroken_line(line_of(each, arguments.output, names)), flush=True)
            if arguments.until_settled:
                settling = settling.after(after, seconds=every)
            if settling.is_over:
                return
            before = after


async def _looks(
    lists: Lists, last: WatchedCluster, *, every: float
) -> AsyncIterator[WatchedCluster]:
    """Read repeatedly; a failed read is skipped, because the next one shows everything since."""
    while True:
        await asyncio.sleep(every)
        try:
            last = await watched(lists, last)
        except RetryLater:
            continue
        yield last


def _beginning(seen: WatchedCluster) -> str:
    found = overview(seen, wall_clock())
    nodes, pods = len(seen.nodes), found.pending
    cost = hourly_each(found.costs, found.currency)
    return (
        f"watching: {nodes} {'node' if nodes == 1 else 'nodes'} at {cost} per hour, "
        f"{pods} {'pod' if pods == 1 else 'pods'} without a node; Ctrl-C to stop"
    )


def line_of(each: Happening, output: str, names: ShortNames = ALONE) -> str:
    """An event in the chosen output format."""
    if output == "json":
        return msgspec.json.encode(each).decode()
    return happening_line(each, names)


def happening_line(each: Happening, names: ShortNames = ALONE) -> str:
    """An event as text: the time of day in UTC, the subject, and what happened."""
    return f"{each.at[11:19]}  {names.in_text(f'{each.subject}  {each.text}')}"


def latest_lines(last: Iterable[Happening], names: ShortNames, *, room: int) -> list[str]:
    """The latest events as complete lines, as many as there is room for."""
    newest = list(last)[-room:]
    lines = [
        line for each in newest for line in wrapped("", happening_line(each, names), indent=10)
    ]
    return lines[-room:]


async def _view(arguments: argparse.Namespace, every: float) -> None:
    async with reading_lists(arguments) as lists:
        view = View(lists)
        await screen.redrawn(view.look, every=every)


class View:
    """The overview at the top, and the latest events below it."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._before = NOTHING
        self._last: deque[Happening] = deque(maxlen=REMEMBERED)

    async def look(self) -> Sequence[str]:
        """The lines of the view now."""
        seen, now = await watched(self._lists, self._before), wall_clock()
        if self._before is not NOTHING:
            self._last.extend(happenings(self._before, seen, now))
        self._before = seen
        above = [*status.overview_lines(overview(seen, now), seen.names), ""]
        room = max(3, screen.height() - len(above) - 2)
        below = latest_lines(self._last, seen.names, room=room)
        return [*above, *(below or ["nothing has happened yet; Ctrl-C to stop"])]
