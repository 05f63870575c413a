"""`growth run`: run all of growth's processes on this machine, against one cluster.

It is for trying growth on a cluster without installing it there. Each process is a separate
program, as in a cluster; their logs are printed together.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from growth.cli.cluster.connecting import add_connection_arguments, completed, connected
from growth.errors import GiveUp

if TYPE_CHECKING:
    import argparse
    from asyncio.subprocess import Process

PROCESSES: Final = ("webhooks", "extender", "reconciler")
PLACES: Final = {"GROWTH_WEBHOOK_ADDRESS": "127.0.0.1:0"}
"""The default addresses, unlike those in a pod, because one machine may serve several clusters."""
SECONDS_TO_END: Final = 7.0
"""Seconds until processes are killed: a little more than they allow themselves."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    add_connection_arguments(parser)
    parser.add_argument(
        "--only",
        choices=PROCESSES,
        action="append",
        help="start only this process; can be repeated",
    )
    parser.epilog = (
        "After the first start it takes half a minute until a machine can be bought: 15 s to wait "
        "for the Lease, and 10 s in which nothing may look wrong. Environment variables such as "
        "GROWTH_LOG_LEVEL configure the processes; python -m reconciler --help lists them. Ctrl-C "
        "ends all of them."
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the processes until a signal arrives or one of them exits."""
    completed(_run_all(arguments))
    return 0


async def _run_all(arguments: argparse.Namespace) -> None:
    async with connected(arguments):
        pass  # Processes wait for an API server for ever; a person is told that there is none.
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop.set)
    running: dict[str, Process] = {}
    try:
        for name in arguments.only or PROCESSES:
            running[name] = await _start(name, arguments)
        await _first_of(stop, running)
    finally:
        await asyncio.gather(*(_end(process) for process in running.values()))


async def _start(name: str, arguments: argparse.Namespace) -> Process:
    words = ["--metrics-address", "127.0.0.1:0"]
    if arguments.kubeconfig is not None:
        words += ["--kubeconfig", str(arguments.kubeconfig)]
    if arguments.context is not None:
        words += ["--context", arguments.context]
    # -P, or a folder of this name where a person happens to be would be run instead.
    command = [sys.executable, "-P", "-m", name, *words]
    try:
        # A group of its own: Ctrl-C comes to us alone, and we end it in order.
        return await asyncio.create_subprocess_exec(
            *command, env={**PLACES, **os.environ}, process_group=0
        )
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise GiveUp(f"{name} can't be started: {reason}") from None


async def _first_of(stop: asyncio.Event, running: dict[str, Process]) -> None:
    """Wait for the signal to stop; raises if a process exits before."""
    waits = {asyncio.create_task(process.wait()): name for name, process in running.items()}
    asked = asyncio.create_task(stop.wait())
    done, left = await asyncio.wait({asked, *waits}, return_when=asyncio.FIRST_COMPLETED)
    for each in left:
        each.cancel()
    ended = sorted(waits[each] for each in done if each in waits)
    if ended and asked not in done:
        code = running[ended[0]].returncode
        raise GiveUp(f"{ended[0]} exited with code {code}; see its log above")


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(SECONDS_TO_END):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
