"""growth frozen, dead, or gone in the wrong order: the cluster does what it always did.

Rows 26 and 29 of the fault catalogue. The tests go from bad to worse, in this order, and leave an
empty cluster; tests/order.py puts them behind everything else that uses it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import statistics
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from growth.kube.transport import connect
from tests.live import wait_until
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM
from tests.manifests.test_doctor import examined
from tests.thread.growing import deployment, wait_until_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster
    from tests.manifests.beside import Beside

pytestmark = pytest.mark.cluster

PODS: Final = 15
TRIES: Final = 10
NAMES: Final = itertools.count(1)


@contextmanager
def frozen(beside: Beside, process: str) -> Iterator[None]:
    """Its ports take everything and answer nothing, as behind a policy that drops packets."""
    first = beside.processes[process].pid
    children = Path(f"/proc/{first}/task/{first}/children").read_text("utf-8").split()
    # The parent first: the extender would replace its front, which serves most of its ports.
    together = (first, *map(int, children))
    for each in together:
        os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in reversed(together):
            os.kill(each, signal.SIGCONT)


@pytest.mark.parametrize("process", ["extender", pytest.param("webhooks", marks=pytest.mark.long)])
async def test_row_29_a_port_that_swallows_everything_costs_seconds_and_is_named(
    process: str, beside: Beside, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, name = beside.cluster, f"behind-{process}"
    with frozen(beside, process):
        await asyncio.to_thread(cluster.kubectl, "create", "namespace", name)
        # Larger than the room that is left: a machine is bought meanwhile.
        work = deployment("work", pool="default", replicas=2, cpu="1500m", memory="1Gi")
        await asyncio.to_thread(cluster.create, work, namespace=name)
        await asyncio.to_thread(wait_until_bound, cluster, name, count=2)
        found = await examined(beside, tmp_path, capsys)

    assert found[process.removesuffix("s")]["hint"]
    assert all(each.poll() is None for each in beside.processes.values())


async def test_pods_start_as_fast_when_growth_is_dead(beside: Beside) -> None:
    alive = await timed(beside.cluster)
    for process in beside.processes.values():
        process.kill()
        await asyncio.to_thread(process.wait)

    # A machine that does much else is slow now and then; a timeout of two seconds shows each time.
    tries = list[Times]()
    while len(tries) < TRIES and not (tries and tries[-1].is_as_fast_as(alive)):
        tries.append(await timed(beside.cluster))
    assert tries[-1].is_as_fast_as(alive), f"{tries} without growth, {alive} with it"


class Times(NamedTuple):
    """How long pods took: to be created, as the median, and to be bound, all of them."""

    created: float
    bound: float

    def is_as_fast_as(self, other: Times) -> bool:
        """But for what other programs may cost."""
        is_created = self.created <= 3 * other.created + 0.2
        return is_created and self.bound <= 3 * other.bound + 3


async def timed(cluster: LiveCluster) -> Times:
    """Pods that fit onto what there is."""
    app, spans = f"timed-{next(NAMES)}", []
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        began = time.monotonic()
        for number in range(PODS):
            before = time.monotonic()
            path, body = "/api/v1/namespaces/default/pods", small_pod(f"{app}-{number}", app)
            await connection.request("POST", path, body=body)
            spans.append(time.monotonic() - before)
    await asyncio.to_thread(wait_until, lambda: are_bound(cluster, app), "pods are bound")
    return Times(created=statistics.median(spans), bound=time.monotonic() - began)


def small_pod(name: str, app: str) -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "1m"}}}
    metadata = {"name": name, "labels": {"app": app}}
    spec = {"containers": [container], "tolerations": [{"operator": "Exists"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def are_bound(cluster: LiveCluster, app: str) -> bool:
    pods = cluster.get("pods", "--selector", f"app={app}")["items"]
    return sum("nodeName" in pod["spec"] for pod in pods) == PODS


def test_nodes_and_namespaces_go_when_growth_is_dead(beside: Beside) -> None:
    cluster = beside.cluster
    [node, *_] = cluster.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]

    cluster.kubectl("delete", "namespace", "behind-extender", "--timeout=180s")
    cluster.kubectl("delete", "node", node["metadata"]["name"], "--timeout=180s")


def test_row_26_definitions_that_can_not_go_hold_up_nobody_else(beside: Beside) -> None:
    """Their objects have a finalizer that nobody takes off, and the garbage collector goes on."""
    cluster = beside.cluster
    names = [each["metadata"]["name"] for each in ours(cluster)]
    cluster.kubectl("delete", "crd", *names, "--wait=false")
    assert any("deletionTimestamp" in each["metadata"] for each in ours(cluster))

    cluster.kubectl("delete", "deployment", "more", "some", "--ignore-not-found", "--wait=false")
    cluster.kubectl("create", "namespace", "after")
    cluster.create(owner(cluster, "owned"), namespace="after")
    cluster.kubectl("delete", "configmap", "owner", "--namespace", "after")
    wait_until(lambda: is_gone(cluster, "owned"), "what is owned goes with its owner")
    cluster.kubectl("delete", "namespace", "after", "--timeout=180s")

    assert grow(cluster, "uninstall", "--machines", "keep") == 0
    wait_until(lambda: not ours(cluster), "the definitions are gone")
    cluster.kubectl("wait", "namespace", SYSTEM, "--for=delete", "--timeout=180s")


def ours(cluster: LiveCluster) -> list[Any]:
    definitions = cluster.get("crd")["items"]
    return [each for each in definitions if each["spec"]["group"] == "growth.dev"]


def owner(cluster: LiveCluster, name: str) -> dict[str, Any]:
    """A ConfigMap that a ConfigMap belongs to."""
    cluster.kubectl("create", "configmap", "owner", "--namespace", "after")
    found = cluster.get("configmap", "owner", "--namespace", "after")["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": found}
    metadata = {"name": name, "ownerReferences": [reference]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def is_gone(cluster: LiveCluster, name: str) -> bool:
    words = ("get", "configmap", name, "--namespace", "after")
    return cluster.try_kubectl(*words).returncode != 0
