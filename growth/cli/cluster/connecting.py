"""Connects commands to the cluster that is chosen with kubectl's flags.

The first request is one that any server answers at once. So a cluster that doesn't answer is
reported within five seconds, whatever the command asks next.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from growth.api.bounds import DNS_LABEL
from growth.api.installed import NAMESPACE
from growth.cli.terminal.logs import log_to_standard_error
from growth.errors import GiveUp
from growth.kube.errors import Denied
from growth.kube.transport import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from growth.kube.transport import Connection

_T = TypeVar("_T")

PATIENCE: Final = 3.0
"""Seconds to wait for the first answer; Python's start takes the rest of the five."""
LONGEST_LABEL: Final = 63
"""The maximum length of a namespace's name."""


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that choose the cluster, as in kubectl."""
    parser.add_argument(
        "--kubeconfig",
        type=Path,
        metavar="FILE",
        help="default: $KUBECONFIG, ~/.kube/config, else the pod's own service account",
    )
    parser.add_argument("--context", metavar="NAME", help="default: the file's current context")


def add_own_namespace_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the flag for growth's namespace."""
    parser.add_argument(
        "-n",
        "--namespace",
        metavar="NAME",
        type=_namespace,
        default=NAMESPACE,
        help="growth's namespace (default: %(default)s)",
    )


def _namespace(word: str) -> str:
    if re.fullmatch(DNS_LABEL, word) is None or len(word) > LONGEST_LABEL:
        raise argparse.ArgumentTypeError(
            f'"{word}" is not a valid namespace: use at most {LONGEST_LABEL} lowercase letters, '
            "digits and dashes"
        )
    return word


@asynccontextmanager
async def connected(arguments: argparse.Namespace) -> AsyncIterator[Connection]:
    """An open connection to the chosen cluster, which has answered once."""
    async with greeted(arguments) as (connection, _):
        yield connection


@asynccontextmanager
async def greeted(arguments: argparse.Namespace) -> AsyncIterator[tuple[Connection, str]]:
    """The same, and the version of its API server."""
    connection = await connect(kubeconfig=arguments.kubeconfig, context=arguments.context)
    async with connection:
        yield connection, await _version(connection)


async def _version(connection: Connection) -> str:
    try:
        answer = await connection.request("GET", "/version", timeout=PATIENCE)
    except (Denied, GiveUp):
        # It has answered. What may not be asked here is refused again where it matters.
        return ""
    return str(answer.json().get("gitVersion", ""))


def completed(work: Coroutine[object, object, _T]) -> _T:
    """Run a coroutine in an event loop of its own."""
    log_to_standard_error()
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
