"""growth installed as it is shipped, in a cluster where no image can run.

Its pods are simulated, and the processes run beside the cluster. What a real cluster's network does
is done by hand: the webhook is called at an address of loopback, the certificate that a kubelet
would mount is written to a folder, and the extender's pod is reached by way of a proxy, since the
API server passes nothing on to loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web
from typing_extensions import override

from certs.files import files_of, write_files
from certs.objects import Objects
from certs.tending import tend
from certs.wanted import POLICY, WANTED, WEBHOOKS
from growth.cli.scheduler_config.configuration import Reach, extended
from growth.kube.transport import connect
from kwok.configuration import DEFAULT_SCHEDULER
from kwok.ports import free_port
from tests.faults.proxy import FaultProxy
from tests.faults.upstream import Upstream
from tests.live import ROOT, LiveCluster, bring_down, bring_up, wait_until
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM
from webhooks.registration.names import PATH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

WEBHOOK: Final = "/webhooks/0/clientConfig"
USES: Final = ("verbs", "demand", "webhook", "webhooks", "extender", "reconciler")
"""Ports; those of metrics by the name of their process."""


@dataclass(frozen=True)
class Beside:
    """An installation at work."""

    cluster: LiveCluster
    ports: dict[str, int]
    processes: dict[str, subprocess.Popen[bytes]]

    def metrics(self, process: str) -> str:
        """What a process tells."""
        with urllib.request.urlopen(self._url(process, "metrics"), timeout=60) as answer:
            text: bytes = answer.read()
        return text.decode()

    def is_ready(self, process: str) -> bool:
        """Whether its caches are filled, and what else it waits for."""
        try:
            with urllib.request.urlopen(self._url(process, "readyz"), timeout=60):
                return True
        except OSError:
            return False

    def _url(self, process: str, page: str) -> str:
        return f"http://127.0.0.1:{self.ports[process]}/{page}"


@contextmanager
def installed_beside(name: str, folder: Path) -> Iterator[Beside]:
    """A cluster of its own, `growth install`, and the three processes."""
    ports = {use: free_port() for use in USES}
    scheduler = folder / "scheduler.yaml"
    scheduler.write_text(extended(DEFAULT_SCHEDULER, Reach(url=f"http://{_at(ports['verbs'])}")))
    try:
        cluster = bring_up(name, "--scheduler-config", str(scheduler))
        assert grow(cluster, "install", "--for", "kwok", "--wait", "0s") == 0
        mount_certificate(cluster, folder / "tls")
        _redirect(cluster, ports)
        with _processes(cluster, ports, folder) as processes:
            beside = Beside(cluster, ports, processes)
            for each in processes:
                wait_until(partial(beside.is_ready, each), f"{each} is ready")
            yield beside
    finally:
        bring_down(name)


def _at(port: int) -> str:
    return f"127.0.0.1:{port}"


def mount_certificate(cluster: LiveCluster, folder: Path) -> None:
    """What the kubelet does with the Secret that the reconciler makes."""

    async def leaf() -> None:
        async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
            kept = Objects(connection, namespace=SYSTEM, wanted=WANTED, policy=POLICY)
            found = (await tend(kept, may_write=lambda: None)).found
            assert found is not None
            leaves = [leaf for authority in found.state for leaf in authority.leaves]
            [ours] = [leaf for leaf in leaves if leaf.wanted == WEBHOOKS]
            write_files(folder, files_of(ours))

    asyncio.run(leaf())


def _redirect(cluster: LiveCluster, ports: dict[str, int]) -> None:
    url = f"https://{_at(ports['webhook'])}{PATH}"
    steps = [{"op": "remove", "path": f"{WEBHOOK}/service"}]
    _patch(cluster, "mutatingwebhookconfiguration", *steps, _added(f"{WEBHOOK}/url", url))
    where = "/spec/template/spec/containers/0/ports/1/containerPort"
    _patch(cluster, "daemonset", _added(where, ports["extender"]), name="growth-extender")


def _added(path: str, value: object) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def _patch(
    cluster: LiveCluster, kind: str, *steps: dict[str, Any], name: str = "growth-webhooks"
) -> None:
    words = (kind, name, "--namespace", SYSTEM, "--type=json", "--patch", json.dumps(steps))
    cluster.kubectl("patch", *words)


class PodNetwork(FaultProxy):
    """Before the API server: what that would ask of the extender's pod is asked of the process."""

    def __init__(self, beside: Beside, *, kubeconfig: Path) -> None:
        super().__init__(Upstream.of(beside.cluster.kubeconfig), kubeconfig=kubeconfig)
        self._beside = beside

    @override
    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if not request.path.endswith("/proxy/metrics"):
            return await super()._handle(request)
        assert f":{self._beside.ports['extender']}/" in request.path
        return web.Response(text=await asyncio.to_thread(self._beside.metrics, "extender"))


@asynccontextmanager
async def pod_network(beside: Beside, folder: Path) -> AsyncIterator[Path]:
    """The kubeconfig of a cluster whose pods can be reached."""
    network = PodNetwork(beside, kubeconfig=folder / "network.kubeconfig")
    await network.start()
    try:
        yield network.kubeconfig
    finally:
        await network.stop()


@contextmanager
def _processes(
    cluster: LiveCluster, ports: dict[str, int], folder: Path
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    words = {
        "webhooks": ("--webhook-address", _at(ports["webhook"]), *_tls(folder)),
        "extender": (
            *("--verbs-address", _at(ports["verbs"])),
            *("--demand-address", _at(ports["demand"])),
        ),
        "reconciler": ("--demand-url", f"http://{_at(ports['demand'])}"),
    }
    settings = {
        "GROWTH_STABLE_INTERVAL": "100ms",
        "GROWTH_LEASE_DURATION": "30s",
        "GROWTH_LEASE_NAMESPACE": SYSTEM,
    }
    shared = ("--kubeconfig", str(cluster.kubeconfig))
    with ExitStack() as stack:
        started = {}
        for name, own in words.items():
            log = stack.enter_context((folder / f"{name}.log").open("ab"))
            metrics = ("--metrics-address", _at(ports[name]))
            started[name] = subprocess.Popen(
                [sys.executable, "-m", name, *shared, *metrics, *own],
                cwd=ROOT,
                env={**os.environ, **(settings if name == "reconciler" else {})},
                stdout=log,
                stderr=log,
            )
            stack.callback(_end, started[name])
        yield started


def _tls(folder: Path) -> tuple[str, str]:
    return "--webhook-tls-folder", str(folder / "tls")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
