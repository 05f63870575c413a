"""Runs the front: `python -m extender.front ENDPOINTS STREAM [--SETTING=VALUE]...`.

The first two words are the descriptors of the listening sockets. Only the extender starts it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
import time
from typing import Final

from prometheus_client import CollectorRegistry

from extender.front.hearing import FrontHearing, opened_pipe
from extender.front.mirror import MirroredDemand
from extender.front.view import FrontHealth, ToldMetrics
from extender.listening import demand_port, serve_socket
from extender.settings import ExtenderSettings
from extender.streaming import ServedStreamMetrics, Streaming
from growth.api.installed import EXTENDER
from growth.service.command_line import parse_words
from growth.service.connections import FEW, LimitedSocket
from growth.service.context import Service
from growth.service.endpoints import serving_endpoints
from growth.service.health import ProcessHealth
from growth.service.logs import start_logs
from growth.service.settings import declared_settings
from growth.service.sources import read_settings
from growth.service.tls import Certificates

NICENESS: Final = 10
"""If the processor is short, the scheduler's calls come first."""
_PR_SET_PDEATHSIG: Final = 1


def main() -> int:
    """Run the front until the process that started it ends."""
    _end_with_parent()
    os.nice(NICENESS)
    # Control-C on a terminal reaches both processes; the other one says when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    endpoints, stream, *words = sys.argv[1:]
    with contextlib.suppress(asyncio.IncompleteReadError):
        asyncio.run(_serve(_service(words), endpoints=_socket(endpoints), stream=_socket(stream)))
    return 0


def _end_with_parent() -> None:
    """Be killed with the parent, even while stopped; the end of the pipe alone isn't enough."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _socket(descriptor: str) -> socket.socket:
    return LimitedSocket(socket.socket(fileno=int(descriptor)), FEW)


def _service(words: list[str]) -> Service[ExtenderSettings]:
    known = [one.flag for one in declared_settings(ExtenderSettings)]
    flags = parse_words(words, flags=known).texts
    settings = read_settings(ExtenderSettings, flags=flags, environment={}).settings
    return Service(
        name=EXTENDER,
        settings=settings,
        logger=start_logs(
            process=EXTENDER, level=settings.log_level, form=settings.log_form, stream=sys.stderr
        ),
        registry=CollectorRegistry(auto_describe=True),
        health=ProcessHealth(clock=time.monotonic),
    )


async def _serve(
    service: Service[ExtenderSettings], *, endpoints: socket.socket, stream: socket.socket
) -> None:
    demand, health = MirroredDemand(), FrontHealth(service.health)
    metrics = ToldMetrics(service.registry)
    streaming = Streaming(demand, ServedStreamMetrics(service.registry))
    hearing = FrontHearing(demand=demand, health=health, metrics=metrics)
    port, reader = demand_port(service.settings), await opened_pipe()
    os.write(sys.stdout.fileno(), b"!")
    await hearing.hear_first(reader)
    async with (
        serve_socket(stream, port, streaming.application(), Certificates(service)),
        serving_endpoints(service, endpoints, health=health, metrics=metrics),
    ):
        await hearing.hear(reader)


if __name__ == "__main__":
    sys.exit(main())
