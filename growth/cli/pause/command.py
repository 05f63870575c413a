"""`growth pause`: stop buying and removing nodes for a while, in one pool or in all pools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from growth.api.written import Duration, write_time
from growth.cli.cluster.connecting import add_connection_arguments, completed, connected
from growth.cli.pause.pausing import add_pool_arguments, own_namespace, pause_all, pause_pool
from growth.cli.terminal.output import add_output_argument
from growth.clocks import wall_clock
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_pool_arguments(parser)
    parser.add_argument(
        "--for",
        dest="span",
        metavar="DURATION",
        default="1h",
        help="duration, such as 30m or 12h (default: 1h)",
    )
    parser.add_argument(
        "--reason", metavar="TEXT", default="", help="reason, shown in the pool's status"
    )
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "Machines that are already requested still join. growth resume ends a pause early. Both "
        "commands also work while growth isn't running."
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the pause, and print its effect."""
    until = write_time(wall_clock().replace(microsecond=0) + _span(arguments.span).timedelta)
    completed(_pause(arguments, until))
    if arguments.output == "json":
        print(json.dumps({"pool": arguments.pool, "until": until, "reason": arguments.reason}))
        return 0
    who = f"pool {arguments.pool} is" if arguments.pool else "all pools are"
    print(f"{who} paused until {until}: no nodes are bought or removed")
    print(f"hint: growth resume{f' {arguments.pool}' if arguments.pool else ''} ends it early")
    return 0


def _span(written: str) -> Duration:
    try:
        span = Duration.parse(written)
    except ValueError as mistake:
        raise Misconfigured(f'--for: "{written}" {mistake}') from None
    if not span.nanoseconds:
        raise Misconfigured("--for: must be longer than 0s; growth resume ends a pause")
    return span


async def _pause(arguments: argparse.Namespace, until: str) -> None:
    async with connected(arguments) as connection:
        if arguments.pool:
            await pause_pool(connection, arguments.pool, until=until, reason=arguments.reason)
            return
        namespace = await own_namespace(connection, arguments.namespace)
        await pause_all(connection, namespace, until=until, reason=arguments.reason)
