"""`make demo`: the product's main job on a real control plane, told line by line.

It ends by itself and leaves nothing behind, also when it is interrupted; `--keep` leaves the
cluster and says how to look around.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from growth.errors import GiveUp
from kwok import growing
from kwok.down import bring_down
from kwok.programs import add_program_arguments, programs_for
from kwok.progress import Progress
from kwok.up import bring_up

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from kwok.clusters import Cluster

SUMMARY = "show what growth does, on a cluster of its own"

_NAME: Final = "growth-demo"
_EXAMPLE: Final = "docs/examples/kwok/pool.yaml"
_ROOT: Final = Path(__file__).resolve().parent.parent
_MISTAKE: Final = ("{name: cx33, max: 10}", "{name: cx33, max: 10}\n    - {name: CX33, max: 2}")
_WORKLOADS: Final = {
    "web": (6, {"cpu": "1500m", "memory": "1Gi"}),
    "cache": (4, {"cpu": "1", "memory": "5Gi"}),
    "build": (2, {"cpu": "6", "memory": "4Gi"}),
}
"""Name: pods, and what each of them asks for."""
_PATIENCE: Final = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `demo`."""
    parser.add_argument("--keep", action="store_true", help="leave the cluster running")
    add_program_arguments(parser)
    parser.set_defaults(scheduler_config=None, growth=True)


def run(arguments: argparse.Namespace) -> int:
    """Show it, and clean up whatever happened."""
    # What happens is told here, so the steps below keep silent; only a long one shows its progress.
    silent = Progress(stream=io.StringIO())
    try:
        cluster = _control_plane(arguments, silent)
        _tell(cluster)
        if arguments.keep:
            _look_around(cluster)
    except BaseException:
        bring_down(_NAME, progress=silent)
        raise
    if not arguments.keep:
        started = time.monotonic()
        bring_down(_NAME, progress=silent)
        _step("cluster", _NAME, "removed without a trace", since=started)
    return 0


def _control_plane(arguments: argparse.Namespace, silent: Progress) -> Cluster:
    started = time.monotonic()
    found = programs_for(arguments, Progress())
    version = found["kube-apiserver"].version
    origins = ", ".join(sorted({program.origin for program in found.values()}))
    programs = f"etcd, kube-apiserver, kube-scheduler {version}, kwok"
    _step("control plane", programs, origins, since=started)
    # One that an earlier demo has kept has pods and machines of its own.
    bring_down(_NAME, progress=silent)
    started = time.monotonic()
    cluster = bring_up(_NAME, arguments=arguments, progress=silent)
    _step("cluster", _NAME, "ready", since=started)
    return cluster


def _tell(cluster: Cluster) -> None:
    started = time.monotonic()
    growing.install(cluster)
    growing.start(cluster)
    _step("growth", "5 kinds of objects, webhooks, extender, reconciler", "ready", since=started)
    _apply_a_pool(cluster)
    _make_a_mistake(cluster)
    _let_pods_wait(cluster)


def _apply_a_pool(cluster: Cluster) -> None:
    growing.kubectl(cluster, "apply", "-f", str(_ROOT / _EXAMPLE))
    print(f"\n  1  A pool and its catalogue of machines are applied ({_EXAMPLE}):")
    _indented(growing.kubectl(cluster, "get", "nodepools"))


def _make_a_mistake(cluster: Cluster) -> None:
    wrong = (_ROOT / _EXAMPLE).read_text("utf-8").replace(*_MISTAKE)
    kubectl = [str(cluster.kubectl), "--kubeconfig", str(cluster.kubeconfig)]
    print("\n  2  The same pool with a type listed twice. The API server says:")
    _indented(_refused(*kubectl, "apply", "-f", "-", given=wrong))
    print("     and growth says it without a cluster, with the line:")
    _indented(_refused(sys.executable, "-m", "growth.cli", "validate", "-f", "-", given=wrong))


def _let_pods_wait(cluster: Cluster) -> None:
    count = sum(replicas for replicas, _ in _WORKLOADS.values())
    print(f"\n  3  {count} pods of {len(_WORKLOADS)} deployments are created. None fits: ", end="")
    print("the only node is the control plane's.", flush=True)
    workloads = [_deployment(name, *shape) for name, shape in _WORKLOADS.items()]
    listed = {"apiVersion": "v1", "kind": "List", "items": workloads}
    started = time.monotonic()
    growing.kubectl(cluster, "create", "-f", "-", given=json.dumps(listed))
    _wait(lambda: _requests(cluster))
    requested = time.monotonic() - started
    _wait(lambda: _bound(cluster) >= count)
    bound = time.monotonic() - started
    for (server_type, location, price), machines in sorted(_bought(cluster).items()):
        print(f"       {machines} x {server_type:6} {location:6} {price}/h each")
    print(f"     the first machine requested after {requested:.1f} s; ", end="")
    print(f"{count} of {count} pods bound after {bound:.1f} s\n", flush=True)


def _deployment(name: str, replicas: int, requests: dict[str, str]) -> dict[str, Any]:
    container = {"name": "main", "image": name, "resources": {"requests": requests}}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }


def _requests(cluster: Cluster) -> list[Any]:
    return _items(cluster, "noderequests")


def _bound(cluster: Cluster) -> int:
    return sum("nodeName" in pod["spec"] for pod in _items(cluster, "pods"))


def _bought(cluster: Cluster) -> Counter[tuple[str, str, str]]:
    specs = (request["spec"] for request in _requests(cluster))
    return Counter((spec["serverType"], spec["location"], spec["price"]) for spec in specs)


def _items(cluster: Cluster, kind: str) -> list[Any]:
    items: list[Any] = json.loads(growing.kubectl(cluster, "get", kind, "-o", "json"))["items"]
    return items


def _wait(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise GiveUp(f"nothing has come of it in {_PATIENCE:.0f} s; try make demo KEEP=1")
        time.sleep(0.05)


def _refused(*command: str, given: str) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        raise GiveUp(f"{Path(command[0]).name} took what it should have refused")
    return done.stderr


def _look_around(cluster: Cluster) -> None:
    print(
        f"  It goes on running. Look around:  export KUBECONFIG={cluster.kubeconfig}\n"
        f"                                    {cluster.kubectl} get growth,nodes,pods\n"
        f"                                    tail -f {cluster.folder}/growth.log\n"
        f"  End it:                           make down NAME={_NAME}"
    )


def _step(subject: str, what: str, state: str, *, since: float) -> None:
    print(f"  {subject:15} {what:51} {state:23} {time.monotonic() - since:6.1f} s", flush=True)


def _indented(text: str) -> None:
    for line in text.strip().splitlines():
        print(f"       {line}")
