"""Calls of the verbs over one kept connection, as kube-scheduler makes them, one pod at a time.

`python -m benchmarks.extender_verbs` is the server: the extender's own verbs and ranking over a
generated cluster, or (with the argument floor) a server that reads nothing and always sends the
same answer, which is the fastest possible here.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import statistics
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from typing_extensions import override

from extender.demand import DemandFeed
from extender.listening import serve_port, verbs_port
from extender.settings import ExtenderSettings
from extender.steering import Steering
from extender.verbs import VerbMetrics, Verbs
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import key_of
from growth.scheduling.objects import Node, Pod
from growth.service.context import Service
from growth.service.health import ProcessHealth
from growth.service.logs import start_logs
from growth.service.metrics import new_registry
from growth.service.settings import LogForm, LogLevel
from growth.service.tls import Certificates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

FLOOR: Final = "floor"
POD_BYTES: Final = 6000
PODS_PER_NODE: Final = 10
_FIXED: Final = b'{"NodeNames":[]}'


class Latency(NamedTuple):
    """Milliseconds."""

    median: float
    p99: float


def node_names(count: int) -> list[str]:
    """As long as the names of machines that growth has bought."""
    return [f"default-{number:08x}-4c5e-4f52-8f0c-b2d7f3a1{number:04x}" for number in range(count)]


def question(names: Sequence[str]) -> bytes:
    """A call of kube-scheduler about a pod of usual size."""
    metadata = {"name": "web-1", "namespace": "shop", "uid": "u-1", "resourceVersion": "7"}
    pod = {"metadata": metadata, "spec": {"containers": [{"env": ["x" * 50] * (POD_BYTES // 53)}]}}
    return json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names}).encode()


def latencies(address: str, verb: str, body: bytes, *, times: int, pause: float = 0.0) -> Latency:
    """How long an answer takes, from before the question is sent until all of it is there.

    The pause is between two questions, in seconds.
    """
    host, _, port = address.rpartition(":")
    head = f"POST /{verb} HTTP/1.1\r\nHost: growth\r\nContent-Length: {len(body)}\r\n\r\n"
    request = head.encode() + body
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(100):
            _ask(connection, request)
        gc.disable()
        taken = sorted(_ask_after(pause, connection, request) for _ in range(times))
        gc.enable()
    return Latency(statistics.median(taken) * 1e3, taken[int(times * 0.99)] * 1e3)


def _ask_after(pause: float, connection: socket.socket, request: bytes) -> float:
    if pause:
        time.sleep(pause)
    return _ask(connection, request)


def _ask(connection: socket.socket, request: bytes) -> float:
    began = time.perf_counter()
    connection.sendall(request)
    answer = connection.recv(1 << 20)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    missing = length - len(body)
    while missing > 0:
        missing -= len(connection.recv(1 << 20))
    return time.perf_counter() - began


@contextmanager
def answering(*words: str) -> Iterator[str]:
    """The server, as a separate process; returns its address."""
    command = [sys.executable, "-m", "benchmarks.extender_verbs", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip().removeprefix("http://")
        finally:
            process.kill()


def _steering(names: Sequence[str]) -> Steering:
    steering = Steering()
    steering.follow_nodes([_added(_node(name)) for name in names])
    steering.follow_pods(
        [_added(_pod(name, number)) for name in names for number in range(PODS_PER_NODE)]
    )
    return steering


def _added(obj: Any) -> Change[Any]:
    return Change(ChangeKind.ADDED, key_of(obj), None, obj)


def _node(name: str) -> Node:
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return msgspec.convert(
        {"metadata": {"name": name, "uid": name}, "status": {"allocatable": allocatable}}, Node
    )


def _pod(node: str, number: int) -> Pod:
    requests = {"cpu": f"{100 + number * 7}m", "memory": "512Mi"}
    name = f"pod-{number}-{node}"
    container = {"name": "main", "resources": {"requests": requests}}
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "shop", "uid": name},
            "spec": {"nodeName": node, "containers": [container]},
        },
        Pod,
    )


@asynccontextmanager
async def verbs_of(nodes: int) -> AsyncIterator[tuple[Service[ExtenderSettings], str]]:
    """The verbs over a cluster of so many nodes, and their URL."""
    service = _service()
    steering = _steering(node_names(nodes))
    verbs = Verbs(
        feasible=DemandFeed().feasible,
        scores=steering.scores,
        opening=steering.opening,
        metrics=VerbMetrics(service.registry),
    )
    port = verbs_port(service.settings)
    certificates = Certificates(service)
    async with serve_port(port, verbs.application(), certificates, answers=verbs.answers) as url:
        yield service, url


async def _answer_verbs(nodes: int) -> None:
    async with verbs_of(nodes) as (_, url):
        gc.freeze()
        print(url, flush=True)
        await asyncio.Event().wait()


def _service() -> Service[ExtenderSettings]:
    name = "growth-extender"
    return Service(
        name=name,
        settings=ExtenderSettings.model_validate({"verbs_address": "127.0.0.1:0"}),
        logger=start_logs(process=name, level=LogLevel.ERROR, form=LogForm.JSON, stream=sys.stderr),
        registry=new_registry(name),
        health=ProcessHealth(clock=time.monotonic),
    )


class _Floor(asyncio.Protocol):
    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._missing = 0

    @override
    def data_received(self, data: bytes) -> None:
        if not self._missing:
            head, _, body = data.partition(b"\r\n\r\n")
            length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
            self._missing = length - len(body)
        else:
            self._missing -= len(data)
        if not self._missing:
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(_FIXED), _FIXED)
            )


async def _answer_floor() -> None:
    server = await asyncio.get_running_loop().create_server(_Floor, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_answer_floor() if sys.argv[1] == FLOOR else _answer_verbs(int(sys.argv[1])))
