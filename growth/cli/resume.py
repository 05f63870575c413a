"""`growth resume`: end a pause early."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from growth.cli.cluster.connecting import add_connection_arguments, completed, connected
from growth.cli.pause.pausing import (
    add_pool_arguments,
    own_namespace,
    paused_all,
    resume_all,
    resume_pool,
)
from growth.cli.terminal.output import add_output_argument
from growth.errors import GiveUp

if TYPE_CHECKING:
    import argparse


class Resumed(NamedTuple):
    """The written end of the ended pause, and what is still paused."""

    was_until: str | None
    all_until: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_pool_arguments(parser)
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "Without POOL it ends the pause of all pools; a pool with a pause of its own stays paused."
    )


def run(arguments: argparse.Namespace) -> int:
    """End the pause, and print what is still paused."""
    found = completed(_resume(arguments))
    if arguments.output == "json":
        told = {"pool": arguments.pool, "wasUntil": found.was_until, "allUntil": found.all_until}
        print(json.dumps(told))
        return 0
    print(_sentence(arguments.pool, found))
    if found.all_until is not None:
        print(f"hint: all pools are still paused until {found.all_until}; growth resume ends that")
    return 0


def _sentence(pool: str | None, found: Resumed) -> str:
    who = f"pool {pool}" if pool else "all pools"
    if found.was_until is None:
        return f"nothing to do: {who} {'was' if pool else 'were'} not paused"
    return f"{who} resumed; the pause would have lasted until {found.was_until}"


async def _resume(arguments: argparse.Namespace) -> Resumed:
    async with connected(arguments) as connection:
        if not arguments.pool:
            namespace = await own_namespace(connection, arguments.namespace)
            return Resumed(await resume_all(connection, namespace))
        was_until = await resume_pool(connection, arguments.pool)
        try:
            namespace = await own_namespace(connection, arguments.namespace)
        except GiveUp:
            # The pool is what was asked for; the rest would only have been a hint.
            return Resumed(was_until)
        return Resumed(was_until, await paused_all(connection, namespace))
