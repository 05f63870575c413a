"""A cluster with growth's objects in it, and the reconciler as a process beside it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from growth.api import crd
from growth.api.wellknown import GROUP_VERSION, POOL_LABEL
from kwok.growing import DEFINITIONS, are_established
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
QUICKLY: Final = {"GROWTH_STABLE_INTERVAL": "100ms", "GROWTH_LEASE_DURATION": "3s"}


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
    wait_until(lambda: are_established(cluster.kubectl(*DEFINITIONS)), "all definitions are served")


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


def machines(cluster: LiveCluster) -> dict[str, str]:
    """Our nodes and their types."""
    nodes = cluster.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    return {
        node["metadata"]["name"]: node["metadata"]["labels"]["growth.dev/instance-type"]
        for node in nodes
    }
