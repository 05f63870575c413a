"""`up --real`: a cloud on this machine whose servers boot, and a pool that buys there.

The cloud is the fake of Hetzner's API that tests use, with servers in namespaces. It is a process
that works in the cluster's folder, so `down` ends it like all others, and its servers end with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import NAMESPACE
from growth.api.wellknown import GROUP_VERSION
from growth.errors import GiveUp, Misconfigured
from kwok import growing
from kwok.answering import answer_of
from kwok.growing import run_kubectl
from kwok.joining import MACHINES_ENDPOINT, hash_of_ca
from kwok.waiting import Patience, wait_for

if TYPE_CHECKING:
    from kwok.clusters import LocalCluster

_ROOT: Final = Path(__file__).resolve().parent.parent
_CLOUD: Final = (sys.executable, "-m", "tests.machines")
_SECRET: Final = {"namespace": NAMESPACE, "name": "hetzner", "key": "token"}
_CHECKED_WITHIN: Final = 60.0
_SERVED_WITHIN: Final = 60.0
TRY_IT: Final = "kubectl create deployment web --image=growth.test/tiny:1 --replicas=2"
"""The image is in every server; nothing can be pulled from a registry."""


def check_real_machines() -> None:
    """Refuse, in one line, what this machine can't do."""
    done = answer_of([*_CLOUD, "check"], within=_CHECKED_WITHIN, environment=_environment())
    if done.returncode != 0:
        reasons = [*done.stdout.splitlines(), *done.stderr.splitlines()[-1:]]
        raise Misconfigured(f"--real: servers can't boot here: {'; '.join(reasons)}")


def start_cloud(cluster: LocalCluster) -> dict[str, str]:
    """Start the cloud, unless it runs; returns what growth must be told to buy there."""
    said = cluster.cloud / "address.txt"
    if not cluster.selling():
        # growth that runs already would buy from the cloud that was there before.
        growing.stop(cluster)
        _start(cluster, said)
    endpoint, token = said.read_text("utf-8").split()
    _keep_token(cluster, token)
    return {"GROWTH_HETZNER_ENDPOINT": endpoint}


def _start(cluster: LocalCluster, said: Path) -> None:
    cluster.cloud.mkdir(exist_ok=True)
    log = cluster.folder / "cloud.log"
    with said.open("wb") as output, log.open("ab") as complaints:
        process = subprocess.Popen(
            [*_CLOUD, "serve", str(cluster.kubeconfig)],
            cwd=cluster.cloud,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )

    def serves() -> bool:
        if process.poll() is not None:
            raise GiveUp(f"the cloud of real machines has ended; see {log}")
        return said.read_text("utf-8").endswith("\n")

    wait_for(serves, "the cloud of real machines", patience=Patience(_SERVED_WITHIN), log=log)


def make_real_pool(cluster: LocalCluster) -> None:
    """A node class for kubeadm, and a pool."""
    _apply(cluster, *_class_and_pool(hash_of_ca(cluster)))


def _environment() -> dict[str, str]:
    # The cloud isn't part of what is installed.
    return {**os.environ, "PYTHONPATH": str(_ROOT)}


def _keep_token(cluster: LocalCluster, token: str) -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": _SECRET["namespace"]},
    }
    place = {"namespace": _SECRET["namespace"], "name": _SECRET["name"]}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": place}
    _apply(cluster, namespace, {**secret, "stringData": {_SECRET["key"]: token}})


def _class_and_pool(ca_hash: str) -> tuple[dict[str, Any], dict[str, Any]]:
    bootstrap = {
        "kind": "Kubeadm",
        "server": MACHINES_ENDPOINT,
        "caHash": ca_hash,
        "cloudProvider": "None",
    }
    node_class = {
        "tokenSecretRef": _SECRET,
        "images": {"x86": "debian-13"},
        "sshKeys": ["admin"],
        "networks": ["cluster"],
        "bootstrap": bootstrap,
    }
    pool = {
        "serverTypes": [{"name": "cx23", "max": 5}],
        # Nobody pays for the hour.
        "scaleDown": {"idleAfter": "10s", "paidHour": "Ignore"},
    }
    return _ours("HetznerNodeClass", node_class), _ours("NodePool", pool)


def _ours(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "default"}
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _apply(cluster: LocalCluster, *objects: dict[str, Any]) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    run_kubectl(cluster, "apply", "--server-side", "-f", "-", given=json.dumps(listed))
