"""A cluster with growth's objects in it, and the reconciler as a process beside it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from growth.api import crd
from growth.api.wellknown import GROUP_VERSION, POOL_LABEL
from growth.installation.definitions import is_established
from growth.keeping.marks import OF_THE_CONTROL_PLANE
from tests.live import ROOT, LiveCluster, bring_down, bring_up, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

EXAMPLE: Final = ROOT / "docs" / "examples" / "kwok" / "pool.yaml"
LEASE: Final = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "growth-reconciler", "namespace": "kube-system"},
}
QUICKLY: Final = {
    "GROWTH_STABLE_INTERVAL": "100ms",
    # On a busy machine, few tests are about an election. A process that ends in order gives its
    # Lease back, and the successor of one that is killed on this machine takes it back at once.
    "GROWTH_LEASE_DURATION": "30s",
    # However late the scheduler is, no second machine is bought for its pods.
    "GROWTH_BIND_WAIT": "2m",
}


@contextlib.contextmanager
def cluster_for(concern: str) -> Iterator[LiveCluster]:
    """A cluster for one concern alone, ready for growth to be started, and gone afterwards."""
    name = f"growth-test-{os.getpid()}-{concern}"
    try:
        cluster = bring_up(name)
        install(cluster)
        yield cluster
    finally:
        bring_down(name)


STARTED_BY: Final = ("-m", "reconciler")
"""What Python is told, to start the reconciler."""
FORGOTTEN: Final[dict[str, Any]] = {"requestTTL": {"ready": "1s"}}
"""Of a pool: soon no request says any more that its nodes are new, so that they may be idle.

A short bind wait would do that, too. But it's the scheduler's time: a machine whose pod is bound
later was bought in vain, and isn't bought for such pods again.
"""
SMALL_CLASS: Final[dict[str, Any]] = {
    "apiVersion": GROUP_VERSION,
    "kind": "KwokNodeClass",
    "metadata": {"name": "default"},
    "spec": {
        "types": [
            {
                "name": "small",
                "resources": {"cpu": "2", "memory": "4Gi", "pods": "110"},
                "offers": [{"location": "here", "price": "0.01"}],
            }
        ]
    },
}
"""Sells one type of machine."""


def install(cluster: LiveCluster) -> None:
    """Everything that an administrator applies before growth starts."""
    install_definitions(cluster)
    cluster.create(LEASE, namespace="kube-system")


def install_definitions(cluster: LiveCluster) -> None:
    """growth's kinds; again, if they are there already."""
    cluster.kubectl(
        "apply", "--server-side", "-f", "-", input="---\n".join(crd.definition_files().values())
    )
    served = lambda: all(map(is_established, cluster.get("crd")["items"]))  # noqa: E731 - said once
    wait_until(served, "all definitions are served")


@contextlib.contextmanager
def reconciling(
    cluster: LiveCluster, log: Path, *, started_by: Sequence[str] = STARTED_BY, **settings: str
) -> Iterator[None]:
    """The reconciler, from its start to its orderly end."""
    words = ["--kubeconfig", str(cluster.kubeconfig), "--metrics-address", "127.0.0.1:0"]
    with (
        log.open("ab") as output,
        subprocess.Popen(
            [sys.executable, *started_by, *words],
            env={**os.environ, **QUICKLY, **settings},
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            assert process.wait(timeout=60) == 0, log.read_text()


def pool_of(server_type: str) -> dict[str, Any]:
    """A pool of one type, and of its name."""
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "NodePool",
        "metadata": {"name": server_type},
        "spec": {"serverTypes": [{"name": server_type, "max": 100}]},
    }


def deployment(name: str, /, *, pool: str, replicas: int, **requests: str) -> dict[str, Any]:
    """A workload of like pods, which ask for a pool."""
    container = {"name": "main", "image": "none", "resources": {"requests": requests}}
    spec = {"containers": [container], "nodeSelector": {POOL_LABEL: pool}}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def wait_until_bound(cluster: LiveCluster, namespace: str, *, count: int) -> None:
    """Until so many pods of the namespace have their node."""

    def bound() -> bool:
        pods = cluster.get("pods", "--namespace", namespace)["items"]
        return sum("nodeName" in pod["spec"] for pod in pods) == count

    wait_until(bound, f"{count} pods are bound")


def wait_until_open(cluster: LiveCluster) -> None:
    """The control plane takes a taint off some seconds after a node is Ready.

    Until then, plans count on a node only while its request is there.
    """
    ours = ("nodes", "--selector", "growth.dev/managed-by=growth")

    def held() -> list[str]:
        taints = (taint for node in cluster.get(*ours)["items"] for taint in _taints(node))
        return [taint["key"] for taint in taints if taint["key"] in OF_THE_CONTROL_PLANE]

    wait_until(lambda: not held(), "the control plane's taints are gone")


def _taints(node: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = node["spec"].get("taints", [])
    return found


def wait_until_empty(cluster: LiveCluster, namespace: str) -> None:
    """Until no pod of the namespace is left: one that ends needs its room for a while."""
    gone = lambda: not cluster.get("pods", "--namespace", namespace)["items"]  # noqa: E731 - said once
    wait_until(gone, f"the pods of {namespace} are gone")


def unschedulable(cluster: LiveCluster, namespace: str) -> int:
    """How many pods of the namespace the scheduler has no node for."""
    pods = cluster.get("pods", "--namespace", namespace)["items"]
    return sum(
        condition.get("reason") == "Unschedulable"
        for pod in pods
        for condition in pod["status"].get("conditions", ())
    )


def machines(cluster: LiveCluster) -> dict[str, str]:
    """Our nodes and their types."""
    nodes = cluster.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    return {
        node["metadata"]["name"]: node["metadata"]["labels"]["growth.dev/instance-type"]
        for node in nodes
    }
