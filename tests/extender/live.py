"""Schedulers with and without the extender, and nodes for their pods, on a real control plane."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.extender_live import TEST_LABEL, Extender, is_ready, node
from benchmarks.extender_live import extending as extender_process
from growth.cli.scheduler_config.configuration import Reach, extended
from kwok.configuration import DEFAULT_SCHEDULER
from kwok.schedulers import RunningScheduler, scheduling
from tests.live import LiveCluster, wait_until
from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def extending(cluster: LiveCluster, log: Path, *words: str) -> Iterator[Extender]:
    """The extender, from its start to its end, in a cluster with the objects that it watches."""
    install_definitions(cluster)
    with extender_process(cluster.kubeconfig, log, *words) as extender:
        yield extender


@contextmanager
def asking(
    cluster: LiveCluster, reach: Reach, *, name: str = "asking"
) -> Iterator[RunningScheduler]:
    """A scheduler that asks the extender."""
    configuration = extended(DEFAULT_SCHEDULER, reach)
    name = f"{name}-{os.getpid()}"
    with scheduling(cluster.kubeconfig, name=name, configuration=configuration) as scheduler:
        yield scheduler


@contextmanager
def alone(cluster: LiveCluster) -> Iterator[RunningScheduler]:
    """The same scheduler without an extender."""
    name = f"alone-{os.getpid()}"
    with scheduling(cluster.kubeconfig, name=name, configuration=DEFAULT_SCHEDULER) as scheduler:
        yield scheduler


@contextmanager
def nodes(cluster: LiveCluster, prefix: str, *, count: int) -> Iterator[list[str]]:
    """Ready nodes of 4 CPUs, for those who tolerate them."""
    names = [f"{prefix}-{number}" for number in range(count)]
    cluster.create(*(node(name, group=prefix) for name in names))
    selector = f"{TEST_LABEL}={prefix}"

    def are_ready() -> bool:
        found = cluster.get("nodes", "--selector", selector)["items"]
        return sum(is_ready(each) for each in found) == count

    try:
        wait_until(are_ready, f"{count} ready nodes")
        yield names
    finally:
        cluster.kubectl("delete", "nodes", "--selector", selector)


def bound(cluster: LiveCluster, namespace: str, *, app: str) -> int:
    """How many of its pods have a node."""
    pods = cluster.get("pods", "--namespace", namespace, "--selector", f"app={app}")["items"]
    return sum("nodeName" in pod["spec"] for pod in pods)
