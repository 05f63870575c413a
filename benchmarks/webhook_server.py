"""One of the two servers, as a process: `python -m benchmarks.webhook_server WAY FOLDER POOLS 0|1`.

It prints its port, serves until its standard input ends, and prints the CPU seconds that it used.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from prometheus_client import CollectorRegistry

from certs.making import make_authority, make_leaf
from certs.wanted import WEBHOOKS
from growth.api.nodepool import NodePool
from growth.kube.cache.garbage import keep_for_good
from growth.service.address import Address
from growth.service.web_server import listen
from webhooks.desk import Desk
from webhooks.door import AdmissionDoor, open_door
from webhooks.metrics import AdmissionMetrics
from webhooks.pools import pools_of_moment
from webhooks.review import allowed_review

if TYPE_CHECKING:
    import socket

WAYS: Final = {"ours": "growth-webhooks", "bare": "reads the body only"}


def make_certificate(folder: Path) -> None:
    """A certificate for loopback, as growth creates its own."""
    now = datetime.now(UTC)
    times = {"begin": now - timedelta(hours=1), "end": now + timedelta(days=1)}
    authority = make_authority("benchmark", **times)
    names = WEBHOOKS.names("growth-system")
    leaf = make_leaf("webhooks", under=authority, usage=WEBHOOKS.usage, names=names, **times)
    (folder / "ca.crt").write_bytes(authority.certificate.pem)
    (folder / "tls.crt").write_bytes(leaf.certificate.pem)
    (folder / "tls.key").write_bytes(leaf.key.reveal())


def main(words: list[str]) -> None:
    """Serve until standard input ends."""
    way, folder, pools, realtime = words
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if realtime == "1":
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(Path(folder) / "tls.crt", Path(folder) / "tls.key")
    with listen(Address("127.0.0.1", 0), setting="port") as listening:
        asyncio.run(_serve(way, listening, tls=tls, pools=int(pools)))


async def _serve(way: str, listening: socket.socket, *, tls: ssl.SSLContext, pools: int) -> None:
    door = _ours(pools) if way == "ours" else _Bare()
    keep_for_good()
    async with open_door(door, listening, tls=tls):
        print(listening.getsockname()[1], flush=True)
        began = time.process_time()
        await asyncio.to_thread(sys.stdin.read)
        print(time.process_time() - began, flush=True)


def _ours(pools: int) -> AdmissionDoor:
    found = pools_of_moment(NodePool.model_validate(_pool(number)) for number in range(pools))
    metrics = AdmissionMetrics(CollectorRegistry())
    return AdmissionDoor(
        Desk(lambda: found, own_namespace="growth-system", metrics=metrics), metrics=metrics
    )


def _pool(number: int) -> dict[str, Any]:
    taint = {"key": "example.org/pool", "value": str(number), "effect": "NoSchedule"}
    return {
        "metadata": {"name": f"pool-{number}" if number else "default"},
        "spec": {"serverTypes": [{"name": "cx23", "max": 10}], "taints": [taint]},
    }


class _Bare:
    """Read the body and allow the pod."""

    answer: Final = allowed_review("0df28fbd-5f5f-11e8-bc74-36e6bb280816")

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        return web.Response(body=self.answer, content_type="application/json")

    def close(self) -> None:
        """It ends with its process."""


if __name__ == "__main__":
    main(sys.argv[1:])
