"""The extender as a process, and pods and nodes by the hundred, on a real control plane."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from growth.api import crd
from growth.cli.scheduler_configuration import Reach, extended
from growth.demand import wire
from kwok.configuration import DEFAULT_SCHEDULER
from kwok.ports import free_port
from kwok.schedulers import Scheduler, scheduling
from tests.live import LiveCluster, wait_until

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator
    from pathlib import Path

TAINT: Final = "growth.dev/test-of-the-extender"


class Extender:
    """The process, at ports that it keeps over a restart."""

    def __init__(self, cluster: LiveCluster, log: Path) -> None:
        self.verbs = f"127.0.0.1:{free_port()}"
        self.demand = f"127.0.0.1:{free_port()}"
        self._kubeconfig = cluster.kubeconfig
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["--kubeconfig", str(self._kubeconfig), "--metrics-address", "127.0.0.1:0"]
        places = ["--verbs-address", self.verbs, "--demand-address", self.demand]
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "extender", *words, *places], stdout=output, stderr=output
            )
        wait_until(self._answers, "an extender that has seen everything", within=60)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._log.read_text()
        try:
            self.entries()
        except OSError:
            return False
        return True

    def send(self, number: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def entries(self, namespace: str = "") -> list[dict[str, Any]]:
        """The book, or what it says of one namespace."""
        with urllib.request.urlopen(f"http://{self.demand}{wire.PATH}", timeout=20) as answer:
            items = json.loads(answer.read())["items"]
        return [item for item in items if namespace in {"", item["namespace"]}]

    def position(self) -> str:
        """Where the book is now."""
        with urllib.request.urlopen(f"http://{self.demand}{wire.PATH}", timeout=20) as answer:
            position: str = json.loads(answer.read())["metadata"]["resourceVersion"]
        return position

    def changes(self, position: str, namespace: str) -> Iterator[str]:
        """What has become of entries of the namespace since then: a kind for each change."""
        url = f"http://{self.demand}{wire.PATH}?watch=true&resourceVersion={position}"
        with urllib.request.urlopen(url, timeout=20) as lines:
            for line in map(json.loads, lines):
                if line["type"] not in {"ADDED", "MODIFIED", "DELETED"}:
                    assert line["type"] == "BOOKMARK", line
                    return
                if line["object"]["namespace"] == namespace:
                    yield line["type"]

    def demanded(self, namespace: str) -> int:
        """Pods of the namespace that need a node, by the scheduler's own word."""
        entries = self.entries(namespace)
        return sum(each["state"] == "demand" and not each["inferred"] for each in entries)


@contextmanager
def extending(cluster: LiveCluster, log: Path) -> Iterator[Extender]:
    """The extender, from its start to its end."""
    install(cluster)
    extender = Extender(cluster, log)
    extender.start()
    try:
        yield extender
    finally:
        extender.kill()


@contextmanager
def asking(cluster: LiveCluster, verbs: str) -> Iterator[Scheduler]:
    """A scheduler that asks the extender at this address."""
    configuration = extended(DEFAULT_SCHEDULER, Reach(url=f"http://{verbs}"))
    name = f"asking-{os.getpid()}"
    with scheduling(cluster.kubeconfig, name=name, configuration=configuration) as scheduler:
        yield scheduler


@contextmanager
def alone(cluster: LiveCluster) -> Iterator[Scheduler]:
    """The same scheduler without an extender."""
    name = f"alone-{os.getpid()}"
    with scheduling(cluster.kubeconfig, name=name, configuration=DEFAULT_SCHEDULER) as scheduler:
        yield scheduler


def install(cluster: LiveCluster) -> None:
    """The objects that the extender watches."""
    cluster.kubectl("apply", "--server-side", "-f", "-", input="---\n".join(crd.render().values()))
    cluster.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=20s")


@contextmanager
def nodes(cluster: LiveCluster, prefix: str, *, count: int, pods: int = 110) -> Iterator[list[str]]:
    """Ready nodes of 4 CPUs, for those who tolerate them."""
    names = [f"{prefix}-{number}" for number in range(count)]
    cluster.create(*(_node(name, prefix, pods) for name in names))

    def are_ready() -> bool:
        found = cluster.get("nodes", "--selector", f"growth.dev/test={prefix}")["items"]
        return sum(_is_ready(node) for node in found) == count

    try:
        wait_until(are_ready, f"{count} ready nodes", within=30)
        yield names
    finally:
        cluster.kubectl("delete", "nodes", "--selector", f"growth.dev/test={prefix}")


def _node(name: str, prefix: str, pods: int) -> dict[str, Any]:
    resources = {"cpu": "4", "memory": "8Gi", "pods": str(pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"growth.dev/test": prefix}},
        "spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]},
        "status": {"capacity": resources, "allocatable": resources},
    }


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and len(node["spec"].get("taints", [])) == 1


def replicas(
    name: str, *, count: int, scheduler: str, cpu: str = "10m", **spec: Any
) -> dict[str, Any]:
    """Like pods, made by the controller manager, which is faster than we are."""
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "schedulerName": scheduler,
                    "tolerations": [{"key": TAINT, "operator": "Exists"}],
                    "terminationGracePeriodSeconds": 0,
                    "containers": [container],
                    **spec,
                },
            },
        },
    }


def bound(cluster: LiveCluster, namespace: str, *, app: str) -> int:
    """How many of its pods have a node."""
    pods = cluster.get("pods", "--namespace", namespace, "--selector", f"app={app}")["items"]
    return sum("nodeName" in pod["spec"] for pod in pods)
