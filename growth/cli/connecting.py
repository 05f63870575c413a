"""How commands reach the cluster: chosen with the same words as kubectl's."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from growth.kube.transport import connect

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Coroutine

    from growth.kube.transport import Connection

_T = TypeVar("_T")


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how the cluster is chosen, as kubectl does it."""
    parser.add_argument(
        "--kubeconfig",
        type=Path,
        metavar="FILE",
        help="default: $KUBECONFIG, ~/.kube/config, else the pod's own service account",
    )
    parser.add_argument("--context", metavar="NAME", help="default: the file's current context")


@asynccontextmanager
async def connected(arguments: argparse.Namespace) -> AsyncIterator[Connection]:
    """An open connection to the chosen cluster."""
    connection = await connect(kubeconfig=arguments.kubeconfig, context=arguments.context)
    async with connection:
        yield connection


def completed(work: Coroutine[object, object, _T]) -> _T:
    """Run a command's work to its end, on a loop of its own that nobody else gets to see."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(work)
