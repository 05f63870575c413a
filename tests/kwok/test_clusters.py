"""Real clusters: how they begin and end, and what is left when that goes wrong."""

from __future__ import annotations

import contextlib
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
from kwok.ports import USES
from kwok.processes import processes_in
from tests.children import child
from tests.live import ROOT, bring_down, bring_up, run_kwok, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Some of these start two clusters, which takes long on a machine that is busy with other things.
pytestmark = pytest.mark.cluster

OURS = {*COMPONENTS, "kwokctl", "kubectl"}
SCHEDULER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


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
        ports = [each for record in records for each in record.ports.items()]
        assert len({port for _, port in ports}) == len(ports) == 2 * len(USES)
        # Those of growth are kept for it, if it is started beside the cluster.
        assert all(listens(port) for use, port in ports if not use.startswith("growth-"))
        assert [status_of(each)["state"] for each in names] == ["ready", "ready"]
    finally:
        with ThreadPoolExecutor() as pool:
            list(pool.map(bring_down, names))
    # and when they are ended no process, no port and no file is left
    assert not any(listens(port) for _, port in ports)
    for record in records:
        assert processes_in(record.folder, OURS) == []
        assert not list(record.folder.parent.glob(f"{name}*"))


def running(name: str) -> int:
    cluster = find_cluster(name)
    return 0 if cluster is None else len(cluster.running())


@contextlib.contextmanager
def being_started(name: str) -> Iterator[subprocess.Popen[bytes]]:
    """An `up` that has just started the first of its programs, and goes no further."""
    command = [sys.executable, "-m", "kwok", "up", "--name", name]
    with child(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)) as process:
        wait_until(lambda: running(name) >= 1, "the first component")
        process.send_signal(signal.SIGSTOP)
        yield process


def test_what_is_half_made_or_broken_is_made_anew(name: str, tmp_path: Path) -> None:
    # given an `up` that is killed in the middle
    with being_started(name) as killed:
        assert status_of(name)["state"] == "starting or ending"
        killed.kill()
    assert status_of(name)["state"] == "broken"
    # when it is started anew, with a configuration of the scheduler
    file = tmp_path / "scheduler.yaml"
    file.write_text(f"{SCHEDULER}profiles: [{{schedulerName: other}}]\n")
    cluster = bring_up(name, "--scheduler-config", str(file))
    # then it works, with that configuration
    containers = [{"name": "main", "image": "none"}]
    spec = {"schedulerName": "other", "containers": containers}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}
    cluster.create(node, pod)
    wait_until(lambda: cluster.get("pod", "pod")["spec"].get("nodeName") == "node", "the binding")
    # and is left as it is
    again = run_kwok("up", "--name", name)
    assert again.stdout == f"KUBECONFIG={cluster.kubeconfig}\n"
    assert "is already running" in again.stderr
    # unless something else is asked for
    file.write_text(SCHEDULER)
    other = run_kwok("up", "--name", name, "--scheduler-config", str(file))
    assert (other.returncode, len(other.stderr.splitlines())) == (2, 1)
    assert "is running with another scheduler configuration; remove it first" in other.stderr
    # and when something of it dies, it counts as broken
    found = find_cluster(name)
    assert found is not None
    scheduler = next(each for each in found.running() if each.name == "kube-scheduler")
    os.kill(scheduler.pid, signal.SIGKILL)
    assert status_of(name)["state"] == "broken"


def test_an_interrupted_start_leaves_nothing(name: str) -> None:
    with being_started(name) as interrupted:
        found = find_cluster(name)
        interrupted.send_signal(signal.SIGTERM)
        interrupted.send_signal(signal.SIGCONT)
        assert interrupted.wait(60) == 130
    assert found is not None
    assert find_cluster(name) is None
    assert processes_in(found.folder, OURS) == []


def test_a_killed_start_is_removed_by_down(name: str) -> None:
    with being_started(name) as killed:
        killed.kill()
    found = find_cluster(name)
    assert found is not None
    bring_down(name)
    assert not found.folder.exists()
    assert processes_in(found.folder, OURS) == []


def test_what_the_scheduler_refuses_is_told_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(f"{SCHEDULER}percentageOfNodesToScore: 1000\n")
    answer = run_kwok("up", "--name", name, "--scheduler-config", str(file))
    assert (answer.returncode, len(answer.stderr.splitlines())) == (2, 1)
    assert "percentageOfNodesToScore" in answer.stderr
    assert find_cluster(name) is None
