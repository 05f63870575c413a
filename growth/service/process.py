"""A process from its command line to its exit code.

0: it was asked to end, or to print something. 1: a part crashed because of a bug; the log has the
stack trace. 2: a person must change something, and one line says what.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from growth.errors import Misconfigured
from growth.service import command_line, signals, sources, usage
from growth.service.command_line import ProcessWish
from growth.service.context import Parts, Service
from growth.service.endpoints import Endpoints, serve_endpoints
from growth.service.health import ProcessHealth
from growth.service.logs import start_logs
from growth.service.metrics import new_registry
from growth.service.parts import MISCONFIGURED, Running
from growth.service.settings import SettingsT, declared_settings
from growth.service.shutdown import Shutdown
from growth.service.web_server import listen

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Process(Generic[SettingsT]):
    """A process: its name, its purpose, its settings and its parts."""

    name: str
    purpose: str
    settings: type[SettingsT]
    parts: Parts[SettingsT]
    endpoints: Endpoints = serve_endpoints


def main(process: Process[SettingsT], words: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    try:
        return _obey(process, sys.argv[1:] if words is None else words)
    except Misconfigured as mistake:
        sys.stderr.write(f"{mistake}\n")
        return MISCONFIGURED


def _obey(process: Process[SettingsT], words: Sequence[str]) -> int:
    asked = command_line.parse_words(
        words, flags=[one.flag for one in declared_settings(process.settings)]
    )
    if asked.wish is ProcessWish.HELP:
        width = shutil.get_terminal_size().columns
        sys.stdout.write(
            usage.help_text(
                process.settings, name=process.name, purpose=process.purpose, width=width
            )
        )
        return 0
    effective = sources.read_settings(process.settings, flags=asked.texts, environment=os.environ)
    if asked.wish is ProcessWish.PRINT_SETTINGS:
        sys.stdout.write(usage.settings_text(effective))
        return 0
    return _run_process(process, effective.settings)


def _run_process(process: Process[SettingsT], settings: SettingsT) -> int:
    """Run the parts until a signal or a crash; returns the exit code. Call it once per process."""
    name = process.name
    with listen(settings.metrics_address, setting="--metrics-address") as listening:
        service = Service(
            name=name,
            settings=settings,
            logger=start_logs(
                process=name, level=settings.log_level, form=settings.log_form, stream=sys.stderr
            ),
            registry=new_registry(name),
            health=ProcessHealth(clock=time.monotonic),
            endpoints=listening,
        )
        return asyncio.run(_run(service, process, listening))


async def _run(
    service: Service[SettingsT], process: Process[SettingsT], listening: socket.socket
) -> int:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def last_words() -> None:
        service.logger.error("shutdown timed out", parts=running.names, threads=_threads())

    def end(exit_code: int) -> None:
        service.health.end()
        shutdown.begin(exit_code)

    def on_signal() -> None:
        end(0)
        # If the signal comes while the interpreter exits, the loop may be closed already.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stop.set)

    shutdown = Shutdown(limit=service.settings.shutdown_limit.seconds, last_words=last_words)
    running = Running(stop=stop, on_failure=end, endpoints=process.endpoints)
    signals.hear(on_signal)
    await running.run(service, process.parts, listening)
    service.logger.info("ended", exit_code=shutdown.exit_code)
    return shutdown.exit_code


def _threads() -> list[str]:
    """The threads that the interpreter waits for at exit."""
    main = threading.main_thread()
    return sorted(
        thread.name for thread in threading.enumerate() if not thread.daemon and thread is not main
    )
