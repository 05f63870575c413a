"""Real clusters: how they begin and end, and what is left when that goes wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from kwok.clusters import COMPONENTS, find_cluster
from kwok.processes import processes_in
from tests.live import ROOT, LiveCluster, bring_down, bring_up, run_kwok, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.cluster

OURS = {*COMPONENTS, "kwokctl", "kubectl"}


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a cluster that is gone after the test, whatever happens in it."""
    name = f"growth-own-{os.getpid()}"
    yield name
    bring_down(name)


def status_of(name: str) -> dict[str, Any]:
    rows = json.loads(run_kwok("status", "-o", "json").stdout)
    return next((row for row in rows if row["name"] == name), {})


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_two_start_at_once_and_end_without_a_trace(name: str) -> None:
    # given two clusters that are started at the same time
    names = [name, f"{name}-b"]
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(bring_up, names)
    try:
        # then both work, and don't share a port
        assert first.get("namespaces")["items"]
        assert second.get("namespaces")["items"]
        records = [record for record in map(find_cluster, names) if record is not None]
        ports = [port for record in records for port in record.ports.values()]
        assert len(set(ports)) == len(ports) == 12
        assert all(listens(port) for port in ports)
        assert [status_of(each)["state"] for each in names] == ["ready", "ready"]
    finally:
        with ThreadPoolExecutor() as pool:
            list(pool.map(bring_down, names))
    # and when they are ended no process, no port and no file is left
    assert not any(listens(port) for port in ports)
    for record in records:
        assert processes_in(record.folder, OURS) == []
        assert not list(record.folder.parent.glob(f"{name}*"))


def test_what_is_broken_or_half_made_is_repaired_by_up_and_removed_by_down(name: str) -> None:
    # given an `up` that is killed in the middle
    command = [sys.executable, "-m", "kwok", "up", "--name", name]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as killed:
        wait_until(lambda: running(name) >= 2, "the first components")
        killed.send_signal(signal.SIGKILL)
        killed.wait(10)
    assert status_of(name)["state"] == "broken"
    # when it is started anew, then it works
    cluster = bring_up(name)
    assert cluster.get("nodes")["items"]
    assert running(name) == len(COMPONENTS)
    # and a cluster of which something has died is replaced
    found = find_cluster(name)
    assert found is not None
    scheduler = next(each for each in found.running() if each.name == "kube-scheduler")
    os.kill(scheduler.pid, signal.SIGKILL)
    answer = run_kwok("up", "--name", name)
    assert "is broken: removing it and starting it anew" in answer.stderr
    # and one that is well is left as it is
    answer = run_kwok("up", "--name", name)
    assert answer.stdout.splitlines()[-1] == f"KUBECONFIG={cluster.kubeconfig}"
    assert "runs already" in answer.stderr


def running(name: str) -> int:
    cluster = find_cluster(name)
    return 0 if cluster is None else len(cluster.running())


def test_an_interrupted_start_leaves_nothing(name: str) -> None:
    command = [sys.executable, "-m", "kwok", "up", "--name", name]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as interrupted:
        wait_until(lambda: running(name) >= 1, "the first component")
        found = find_cluster(name)
        interrupted.send_signal(signal.SIGTERM)
        assert interrupted.wait(10) == 130
    assert found is not None
    assert find_cluster(name) is None
    assert processes_in(found.folder, OURS) == []


def test_a_person_s_own_scheduler_configuration_is_used_and_checked(
    name: str, tmp_path: Path
) -> None:
    # given a configuration that the scheduler itself refuses
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: 1000\n"
    )
    # when a cluster is started with it, then the scheduler's reason is told, and nothing is left
    answer = run_kwok("up", "--name", name, "--scheduler-config", str(file))
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
    assert "percentageOfNodesToScore" in answer.stderr
    assert find_cluster(name) is None


def test_a_second_scheduler_profile_of_a_person_serves_pods(name: str, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: other}]\n"
    )
    cluster: LiveCluster = bring_up(name, "--scheduler-config", str(file))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}
    containers = [{"name": "main", "image": "none"}]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod"},
        "spec": {"schedulerName": "other", "containers": containers},
    }
    cluster.create(node, pod)
    wait_until(lambda: cluster.get("pod", "pod")["spec"].get("nodeName") == "node", "the binding")
