"""The extender as a process, with hundreds of pods and nodes on a real control plane."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from prometheus_client.parser import text_string_to_metric_families

from growth.demand import wire
from growth.errors import GiveUp, Misconfigured
from kwok import growing
from kwok.clusters import LocalCluster, find_cluster
from kwok.ports import free_port

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator
    from pathlib import Path

TAINT: Final = "growth.dev/not-for-others"
TEST_LABEL: Final = "growth.dev/test"
_READY_WITHIN: Final = 90.0


class Extender:
    """The process, with ports that it keeps over a restart."""

    def __init__(self, kubeconfig: Path, log: Path, *words: str) -> None:
        """The arguments are flags in addition to those that every extender here needs."""
        self.verbs = f"127.0.0.1:{free_port()}"
        self.demand = f"127.0.0.1:{free_port()}"
        self._metrics = f"127.0.0.1:{free_port()}"
        self._kubeconfig = kubeconfig
        self._words = words
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until its caches are complete."""
        words = ["--kubeconfig", str(self._kubeconfig), "--metrics-address", self._metrics]
        places = ["--verbs-address", self.verbs, "--demand-address", self.demand, *self._words]
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "extender", *words, *places], stdout=output, stderr=output
            )
        deadline = time.monotonic() + _READY_WITHIN
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise GiveUp(f"the extender doesn't start: {self._log.read_text()}")
            time.sleep(0.05)

    @property
    def pid(self) -> int:
        """Its process ID, while it is running."""
        if self._process is None:
            raise GiveUp("the extender isn't running")
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Kill it, if it is running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def entries(self, namespace: str = "") -> list[dict[str, Any]]:
        """The book, or its entries for one namespace."""
        items: list[dict[str, Any]] = self._document()["items"]
        return [item for item in items if namespace in {"", item["namespace"]}]

    def demanded(self, namespace: str) -> int:
        """Pods of the namespace that need a node, according to the scheduler."""
        entries = self.entries(namespace)
        return sum(each["state"] == "demand" and not each["inferred"] for each in entries)

    def position(self) -> str:
        """The current position in the book."""
        position: str = self._document()["metadata"]["resourceVersion"]
        return position

    def changes(self, position: str, namespace: str) -> Iterator[str]:
        """What has happened to entries of the namespace since then: one kind per change."""
        url = f"http://{self.demand}{wire.PATH}?watch=true&resourceVersion={position}"
        with urllib.request.urlopen(url, timeout=20) as lines:
            for line in map(json.loads, lines):
                if line["type"] not in {"ADDED", "MODIFIED", "DELETED"}:
                    return
                if line["object"]["namespace"] == namespace:
                    yield line["type"]

    def figure(self, name: str, **labels: str) -> float:
        """The sum of the samples with this name and these labels."""
        with urllib.request.urlopen(f"http://{self._metrics}/metrics", timeout=20) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        samples = (sample for family in families for sample in family.samples)
        return sum(
            each.value
            for each in samples
            if each.name == name and labels.items() <= each.labels.items()
        )

    def _document(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://{self.demand}{wire.PATH}", timeout=20) as answer:
            document: dict[str, Any] = json.loads(answer.read())
        return document

    def _answers(self) -> bool:
        try:
            self._document()
        except OSError:
            return False
        return True


@contextmanager
def a_cluster(name: str | None) -> Iterator[LocalCluster]:
    """The running cluster with this name, or a new one that ends with the context."""
    if name is not None:
        yield _found(name)
        return
    own = f"growth-benchmark-{os.getpid()}"
    try:
        _kwok("up", "--name", own)
        cluster = _found(own)
        growing.install(cluster)
        yield cluster
    finally:
        _kwok("down", "--name", own)


def _found(name: str) -> LocalCluster:
    cluster = find_cluster(name)
    if cluster is None or not cluster.ready:
        up = f"python -m kwok up --name {name} --growth"
        raise Misconfigured(f'there is no cluster "{name}"; start it: {up}')
    return cluster


def _kwok(*words: str) -> None:
    command = [sys.executable, "-m", "kwok", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def extending(kubeconfig: Path, log: Path, *words: str) -> Iterator[Extender]:
    """The extender, from start to end."""
    extender = Extender(kubeconfig, log, *words)
    try:
        extender.start()
        yield extender
    finally:
        extender.kill()


def node(name: str, *, group: str, pods: int = 110) -> dict[str, Any]:
    """A node with 4 CPUs, for pods that tolerate its taint."""
    resources = {"cpu": "4", "memory": "8Gi", "pods": str(pods)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {TEST_LABEL: group}},
        "spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]},
        "status": {"capacity": resources, "allocatable": resources},
    }


def is_ready(node: dict[str, Any]) -> bool:
    """Whether the taints of a new node are gone."""
    conditions = node["status"].get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and len(node["spec"].get("taints", [])) == 1


def replicas(name: str, *, count: int, scheduler: str, cpu: str, group: str = "") -> dict[str, Any]:
    """Identical pods, created by the controller manager, which is faster than we are."""
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": cpu}}}
    spec = {
        "schedulerName": scheduler,
        "tolerations": [{"key": TAINT, "operator": "Exists"}],
        "nodeSelector": {TEST_LABEL: group} if group else {},
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
