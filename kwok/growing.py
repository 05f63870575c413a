"""`up --growth`: growth's objects in the cluster, and its processes next to it.

The manifests that an administrator would apply are applied with kubectl. The processes are those of
`growth run`, in one group with one log in the cluster's folder. They work in that folder, so `down`
finds and ends them with everything else.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import urllib.request
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from growth.api import crd
from growth.api.installed import RECONCILER_LEASE
from growth.cli.run import PROCESSES
from growth.demand import wire
from growth.errors import GiveUp
from growth.installation.definitions import is_established
from kwok import admission
from kwok.answering import NoAnswer, answer_of
from kwok.apiserver import ask_api_server
from kwok.waiting import Patience, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kwok.clusters import LocalCluster

_LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
_LEASE: Final[dict[str, Any]] = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": RECONCILER_LEASE, "namespace": "kube-system"},
}
DEFINITIONS: Final = ("get", "crd", "--output", "json")
"""What kubectl is told, to list all definitions."""
_LOG: Final = "growth.log"
_WORKS_WITHIN: Final = 120.0
_ENDS_WITHIN: Final = 60.0
_KUBECTL_WITHIN: Final = 120.0
# A new local cluster is trusted at once; in production, growth waits for a stable interval first.
_SETTINGS: Final = {"GROWTH_STABLE_INTERVAL": "100ms", "GROWTH_LEASE_DURATION": "5s"}
_VERBS: Final = "growth-verbs"
_DEMAND: Final = "growth-demand"


def install(cluster: LocalCluster) -> None:
    """Everything that must be in a cluster before growth starts."""
    definitions = "---\n".join(crd.definition_files().values())
    run_kubectl(cluster, "apply", "--server-side", "-f", "-", given=definitions)
    wait_for(
        lambda: are_established(run_kubectl(cluster, *DEFINITIONS)),
        "all definitions to be served",
        patience=Patience(_WORKS_WITHIN),
    )
    # An existing Lease that was never held is acquired at once. A missing one might have been
    # deleted while a leader is alive, so growth would wait.
    items = [_LEASE, admission.registration(cluster)]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    run_kubectl(cluster, "apply", "-f", "-", given=json.dumps(listed))
    admission.certify(cluster)


def are_established(listed: str) -> bool:
    """Whether objects of all kinds in a list of definitions can be created."""
    # `kubectl wait` fails for a definition that has no conditions yet.
    return all(map(is_established, json.loads(listed)["items"]))


def start_growth(
    cluster: LocalCluster,
    processes: Sequence[str] = PROCESSES,
    *,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """Start the processes and wait until all of them work; returns their log.

    `settings` are defaults for this cluster; the environment overrides them.
    """
    log = cluster.folder / _LOG
    if not cluster.growing():
        only = itertools.chain.from_iterable(("--only", each) for each in processes)
        command = [sys.executable, "-m", "growth.cli", "run", *only, "--kubeconfig"]
        with log.open("ab") as output:
            subprocess.Popen(
                [*command, str(cluster.kubeconfig)],
                cwd=cluster.folder,
                env={**_SETTINGS, **settings, **_places(cluster), **os.environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
    patience = Patience(_WORKS_WITHIN)
    for each in processes:
        goal = f'the {each} of growth in cluster "{cluster.name}"'
        wait_for(partial(_works, cluster, each, log), goal, patience=patience, log=log)
    return log


def _works(cluster: LocalCluster, process: str, log: Path) -> bool:
    if not cluster.growing():
        raise GiveUp(f'growth has ended in cluster "{cluster.name}"; see {log}')
    return _WORKS[process](cluster)


def stop(cluster: LocalCluster) -> None:
    """End the processes in order, as Ctrl-C does; `start_growth` starts them again."""
    for process in cluster.growing():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)
    goal = f'the end of growth in cluster "{cluster.name}"'
    log = cluster.folder / _LOG
    wait_for(lambda: not cluster.growing(), goal, patience=Patience(_ENDS_WITHIN), log=log)


def run_kubectl(cluster: LocalCluster, *words: str, given: str | None = None) -> str:
    """Run kubectl as the cluster's administrator."""
    command = [str(cluster.kubectl), "--kubeconfig", str(cluster.kubeconfig), *words]
    try:
        done = answer_of(command, within=_KUBECTL_WITHIN, given=given)
    except NoAnswer:
        log = cluster.work / "logs" / "kube-apiserver.log"
        limit = f"{_KUBECTL_WITHIN:.0f} s"
        raise GiveUp(f"timed out after {limit} waiting for kubectl {words[0]}; see {log}") from None
    if done.returncode != 0:
        raise GiveUp(f"kubectl {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def _places(cluster: LocalCluster) -> dict[str, str]:
    """Where the processes find each other, and the scheduler finds them."""
    demand = cluster.address(_DEMAND)
    return {
        "GROWTH_VERBS_ADDRESS": cluster.address(_VERBS),
        "GROWTH_DEMAND_ADDRESS": demand,
        "GROWTH_DEMAND_URL": f"http://{demand}",
        **admission.webhook_settings(cluster),
    }


def _streams_demand(cluster: LocalCluster) -> bool:
    """Whether the extender's caches are complete, which is the last thing that it needs."""
    try:
        with urllib.request.urlopen(f"http://{cluster.address(_DEMAND)}{wire.PATH}", timeout=5):
            return True
    except OSError:
        return False


def _is_led(cluster: LocalCluster) -> bool:
    answer = ask_api_server(cluster, f"{_LEASES}/{RECONCILER_LEASE}")
    return answer.status == 200 and bool(answer.body["spec"].get("holderIdentity"))


_WORKS: Final[dict[str, Callable[[LocalCluster], bool]]] = {
    "webhooks": admission.is_served,
    "extender": _streams_demand,
    "reconciler": _is_led,
}
"""How to tell that each process works."""
