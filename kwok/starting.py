"""Start a cluster and wait until it is ready.

kwokctl writes certificates and starts the programs, and then waits only until the API server
answers. Ready means more: the first steps of a test must not fail because the cluster is new. So
the scheduler and the controller manager are up, the control-plane node is Ready and without the
taint of new nodes, and the service account exists that every pod needs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from growth.errors import GiveUp, GrowthError, RetryLater
from kwok.apiserver import ask_api_server, component_is_healthy
from kwok.configuration import SIMULATED, write_configuration
from kwok.locks import locked
from kwok.places import failed_folder, locks_folder
from kwok.ports import choose_ports
from kwok.store import ARCHITECTURE
from kwok.waiting import Patience, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kwok.clusters import LocalCluster
    from kwok.finding import FoundProgram
    from kwok.progress import Progress

READY_WITHIN: Final = 240.0
"""Seconds; 3 to 10 are usual, and four starts at once at a load of 13 took 23."""
TRIES: Final = 3
_PASSING: Final = (
    "address already in use",
    # The controller manager waits only ten seconds for it, which a busy machine needs.
    "failed to wait for apiserver being healthy",
)
CONTROL_PLANE_TAINT: Final = {
    "key": "node-role.kubernetes.io/control-plane",
    "effect": "NoSchedule",
}


def start_cluster(
    cluster: LocalCluster, programs: Mapping[str, FoundProgram], progress: Progress
) -> LocalCluster:
    """Start a cluster and wait until it is ready; a failed start leaves nothing behind."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(RetryLater), _removed_on_failure(cluster, progress):
            return _start_once(cluster, programs, progress)
    with _removed_on_failure(cluster, progress):
        return _start_once(cluster, programs, progress)


@contextlib.contextmanager
def _removed_on_failure(cluster: LocalCluster, progress: Progress) -> Iterator[None]:
    try:
        yield
    except GrowthError as failure:
        kept = cluster.keep_logs()
        cluster.remove()
        logs = "" if kept is None else f"; its logs: {kept}"
        raise type(failure)(f"{failure}{logs}") from None
    except BaseException:
        cluster.remove()
        raise
    finally:
        progress.clear()


def _start_once(
    cluster: LocalCluster, programs: Mapping[str, FoundProgram], progress: Progress
) -> LocalCluster:
    cluster = _with_ports(cluster)
    patience = Patience(READY_WITHIN)
    _run_kwokctl(cluster, programs, patience, progress)
    for goal, reached in _GOALS:
        _wait(cluster, goal, partial(reached, cluster), patience=patience, progress=progress)
    shutil.rmtree(failed_folder(cluster.name), ignore_errors=True)
    return cluster.now_ready()


def _wait(
    cluster: LocalCluster,
    goal: str,
    reached: Callable[[], bool],
    *,
    patience: Patience,
    progress: Progress,
) -> None:
    """Wait until a goal is reached, as long as everything that was started is alive."""

    def look() -> bool:
        progress.show(f'cluster "{cluster.name}": waiting for {goal}')
        if reached():
            return True
        _check_alive(cluster)
        return False

    wait_for(look, f'{goal} of cluster "{cluster.name}"', patience=patience)


def _with_ports(cluster: LocalCluster) -> LocalCluster:
    """Choose ports and record them before another command of this user can choose."""
    with locked(locks_folder() / "ports.lock", waiting=lambda: None):
        chosen = replace(cluster, ports=choose_ports())
        chosen.save()
    return chosen


def _run_kwokctl(
    cluster: LocalCluster,
    programs: Mapping[str, FoundProgram],
    patience: Patience,
    progress: Progress,
) -> None:
    """Let kwokctl start everything, but don't let it wait for programs that have already ended."""
    configuration = write_configuration(cluster, programs)
    log = cluster.folder / "kwokctl.log"
    with log.open("wb") as output, subprocess.Popen(
        [
            str(programs["kwokctl"].path), "create", "cluster", "--name", cluster.name,
            "--config", str(configuration), "--kubeconfig=", "--timeout", f"{READY_WITHIN:.0f}s",
        ],
        cwd=cluster.folder, env=_environment(cluster, programs["kubectl"].path),
        stdin=subprocess.DEVNULL, stdout=output, stderr=output,
    ) as kwokctl:  # fmt: skip
        try:
            ended = partial(_has_ended, kwokctl)
            _wait(cluster, "kwokctl", ended, patience=patience, progress=progress)
        except BaseException:
            kwokctl.kill()
            raise
    _check_alive(cluster)
    if kwokctl.returncode != 0:
        reason = _last_line(log.read_text("utf-8", errors="replace"))
        raise GiveUp(f'kwokctl could not create cluster "{cluster.name}": {reason}')


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def _environment(cluster: LocalCluster, kubectl: Path) -> dict[str, str]:
    # kwokctl and etcd read options from variables, which would override the cluster's own.
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("KWOK_", "ETCD_"))
    }
    # kwokctl prefers any kubectl on PATH to the one that it is given.
    path = f"{kubectl.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**kept, "KWOK_WORKDIR": str(cluster.folder), "PATH": path}


def _check_alive(cluster: LocalCluster) -> None:
    """A component that has ended says why in its log; if that passes, start again."""
    for component in cluster.ended():
        log = cluster.log(component)
        text = f'{component} of cluster "{cluster.name}" has ended: {_last_line(log)}'
        raise RetryLater(text) if any(each in log for each in _PASSING) else GiveUp(text)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it wrote nothing"


def _create_node(cluster: LocalCluster) -> bool:
    answer = ask_api_server(
        cluster, "/api/v1/nodes", method="POST", content=_control_plane_node(cluster)
    )
    return answer.status in {201, 409}


def _control_plane_node(cluster: LocalCluster) -> dict[str, Any]:
    """Labelled and tainted as kubeadm does; none of our pods may run on it."""
    name = f"{cluster.name}-control-plane"
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": ARCHITECTURE,
        "node-role.kubernetes.io/control-plane": "",
        "node.kubernetes.io/exclude-from-external-load-balancers": "",
    }
    resources = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "40Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        # In a cluster that machines join, kwok simulates only nodes with this annotation.
        "metadata": {"name": name, "labels": labels, "annotations": SIMULATED},
        "spec": {"taints": [CONTROL_PLANE_TAINT]},
        "status": {"capacity": resources, "allocatable": resources},
    }


def _node_is_ready(cluster: LocalCluster) -> bool:
    node = ask_api_server(cluster, f"/api/v1/nodes/{cluster.name}-control-plane")
    if node.status != 200:
        return False
    conditions = node.body["status"].get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and node.body["spec"].get("taints") == [CONTROL_PLANE_TAINT]


def _accepts_pods(cluster: LocalCluster) -> bool:
    return (
        ask_api_server(cluster, "/api/v1/namespaces/default/serviceaccounts/default").status == 200
    )


_GOALS: Final[tuple[tuple[str, Callable[[LocalCluster], bool]], ...]] = (
    ("the first answer of kube-apiserver", _create_node),
    ("a ready kube-apiserver", partial(component_is_healthy, component="kube-apiserver")),
    ("a ready kube-scheduler", partial(component_is_healthy, component="kube-scheduler")),
    (
        "a healthy kube-controller-manager",
        partial(component_is_healthy, component="kube-controller-manager"),
    ),
    ("the Ready node", _node_is_ready),
    ("the service account that pods need", _accepts_pods),
)
