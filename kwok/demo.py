"""`make demo`: the product's main job on a real control plane, step by step.

It ends by itself and leaves nothing behind, even if it is interrupted. `--keep` leaves the cluster
running and says how to explore it.
"""

from __future__ import annotations

import io
import json
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from growth.errors import GiveUp
from kwok import growing
from kwok.answering import answer_of
from kwok.demo_figures import DemoOffer, all_machines, bought, given_back, money, name_of_request
from kwok.demo_scene import PATIENCE, DemoScene, create, deployment, on_paper, until
from kwok.down import bring_down
from kwok.programs import add_program_arguments, programs_for
from kwok.progress import Progress
from kwok.up import bring_up

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from kwok.clusters import LocalCluster

SUMMARY = "demonstrate growth on a separate cluster"

_NAME: Final = "growth-demo"
_EXAMPLE: Final = "docs/examples/kwok/pool.yaml"
_ROOT: Final = Path(__file__).resolve().parent.parent
_MISTAKE: Final = ("{name: cx33, max: 10}", "{name: cx33, max: 10}\n    - {name: CX33, max: 2}")
_WORKLOADS: Final = {
    "web": (18, {"cpu": "500m", "memory": "1Gi"}),
    "api": (12, {"cpu": "750m", "memory": "3Gi"}),
    "cache": (6, {"cpu": "500m", "memory": "6Gi"}),
    "worker": (8, {"cpu": "2", "memory": "1Gi"}),
    "build": (4, {"cpu": "3", "memory": "2Gi"}),
    "store": (2, {"cpu": "1500m", "memory": "4Gi"}),
}
"""Deployments: name, number of pods, and their requests.

Some need much memory and some much CPU, as in most clusters; combining them well saves money."""
_IN_A_HURRY: Final = {
    "spec": {
        "scaleDown": {"idleAfter": "3s"},
        "disruption": {"budgets": [{"nodes": "100%"}]},
    }
}
"""Waiting a minute would be too long for people who watch."""
_SETTINGS: Final = {"GROWTH_QUIET": "2s", "GROWTH_BIND_WAIT": "5s"}
"""Likewise: a new node is left alone for all of bindWait, and nodes are examined together once
nothing has changed for a while."""
_MORE: Final = (6, {"cpu": "1500m", "memory": "2Gi"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `demo`."""
    parser.add_argument("--keep", action="store_true", help="leave the cluster running")
    add_program_arguments(parser)
    parser.set_defaults(scheduler_config=None, growth=True, joinable=False)


def run(arguments: argparse.Namespace) -> int:
    """Show it, and clean up in any case."""
    # The demo prints its own output, so the steps below print nothing; only a long one shows
    # progress.
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
        _step("cluster", _NAME, "removed", since=started)
    return 0


def _control_plane(arguments: argparse.Namespace, silent: Progress) -> LocalCluster:
    started = time.monotonic()
    found = programs_for(arguments, Progress())
    version = found["kube-apiserver"].version
    origins = ", ".join(sorted({program.origin for program in found.values()}))
    programs = f"etcd, kube-apiserver, kube-scheduler {version}, kwok"
    _step("control plane", programs, origins, since=started)
    # A cluster that an earlier demo has kept has pods and machines of its own.
    bring_down(_NAME, progress=silent)
    started = time.monotonic()
    cluster = bring_up(_NAME, arguments=arguments, progress=silent)
    _step("cluster", _NAME, "ready", since=started)
    return cluster


def _tell(cluster: LocalCluster) -> None:
    started = time.monotonic()
    growing.install(cluster)
    growing.start_growth(cluster, settings=_SETTINGS)
    _step("growth", "6 kinds of objects, webhooks, extender, reconciler", "ready", since=started)
    _apply_a_pool(cluster)
    _make_a_mistake(cluster)
    scene = DemoScene(cluster)
    _let_pods_wait(cluster, scene)
    _sell_out(cluster, scene)
    _let_load_drop(cluster, scene)


def _apply_a_pool(cluster: LocalCluster) -> None:
    growing.run_kubectl(cluster, "apply", "-f", str(_ROOT / _EXAMPLE))
    print(f"\n  1  A pool and its catalogue of machines are applied ({_EXAMPLE}):")
    _indented(growing.run_kubectl(cluster, "get", "nodepools"))


def _make_a_mistake(cluster: LocalCluster) -> None:
    wrong = (_ROOT / _EXAMPLE).read_text("utf-8").replace(*_MISTAKE)
    kubectl = [str(cluster.kubectl), "--kubeconfig", str(cluster.kubeconfig)]
    print("\n  2  The same pool with a type listed twice. The API server says:")
    _indented(_refused(*kubectl, "apply", "-f", "-", given=wrong))
    print("     growth validate finds it without a cluster, and names the line:")
    _indented(_refused(sys.executable, "-m", "growth.cli", "validate", "-f", "-", given=wrong))


def _let_pods_wait(cluster: LocalCluster, scene: DemoScene) -> None:
    count = sum(replicas for replicas, _ in _WORKLOADS.values())
    workloads = [deployment(name, *shape) for name, shape in _WORKLOADS.items()]
    print(
        f"\n  3  {count} pods of {len(_WORKLOADS)} deployments are created. No pod fits: ", end=""
    )
    print("the only node is the control plane's.", flush=True)
    started = time.monotonic()
    create(cluster, workloads)
    requested = until(scene.requests, "a machine is requested") - started
    until(lambda: all_machines(scene.requests()).pods >= count, f"{count} pods are planned")
    plan = scene.requests()
    _show(bought(plan))
    _show_cost(all_machines(plan).cost, workloads)
    bound = until(lambda: scene.bound() >= count, f"{count} pods are bound") - started
    _show_later(scene, plan)
    print(f"     first machine requested after {_seconds(requested)}, ", end="")
    print(f"{scene.serving()} machines joined, ", end="")
    print(f"{count} of {count} pods bound after {_seconds(bound)}", flush=True)


def _show_cost(cost: Decimal, workloads: Sequence[Any]) -> None:
    manifests = [(_ROOT / _EXAMPLE).read_text("utf-8"), *(json.dumps(each) for each in workloads)]
    paper = on_paper(*manifests)
    bound, first_fit = Decimal(str(paper["lowerBound"])), Decimal(str(paper["firstFitCost"]))
    most = f"at most {100 * (cost / bound - 1):.1f} % above the optimum"
    print(f"     {money(cost)} per hour, {'proven optimal' if cost == bound else most}. ", end="")
    print(f"First-fit would pay {money(first_fit)}, ", end="")
    print(f"{100 * (first_fit / cost - 1):.1f} % more.", flush=True)


def _show_later(scene: DemoScene, plan: Sequence[Mapping[str, Any]]) -> None:
    """A pod can take a place meant for another one, which then needs a machine."""
    known = {name_of_request(each) for each in plan}
    later = [each for each in scene.requests() if name_of_request(each) not in known]
    if later:
        print("     bought later, for pods whose places were taken:")
        _show(bought(later))


def _sell_out(cluster: LocalCluster, scene: DemoScene) -> None:
    """The next offer is sold out, whichever it is, so the plan must avoid it."""
    sold_out = {"spec": {"faults": [{"kind": "StockOut", "count": 1}]}}
    patch = ("patch", "kwoknodeclass", "default", "--type=merge", "-p", json.dumps(sold_out))
    growing.run_kubectl(cluster, *patch)
    before = {name_of_request(each) for each in scene.requests()}
    count = scene.bound() + _MORE[0]
    print(f"\n  4  The next offer is sold out (an injected failure); {_MORE[0]} more pods:")
    create(cluster, [deployment("more", *_MORE)])
    refused = until(scene.unmet, "the provider refuses a machine")
    left = {pod["uid"] for each in scene.unmet() for pod in each["spec"].get("pods", ())}

    def is_planned_anew() -> bool:
        requests, refusals = scene.requests(), {name_of_request(each) for each in scene.unmet()}
        others = (each["spec"] for each in requests if name_of_request(each) not in refusals)
        held = {pod["uid"] for spec in others for pod in spec.get("pods", ())}
        return bool(left & held) or scene.bound() >= count

    replanned = until(is_planned_anew, "the pods are planned again") - refused
    until(lambda: scene.bound() >= count, f"{count} pods are bound")
    gone = {name_of_request(each): DemoOffer.of(each) for each in scene.unmet()}
    what = ", ".join(f"{offer.server_type} in {offer.location}" for offer in gone.values())
    print(f"     no {what}; planned again without it, requested ", end="")
    print(f"{_seconds(replanned)} after the refusal:")
    anew = [each for each in scene.requests() if name_of_request(each) not in {*before, *gone}]
    _show(bought(anew))
    _show_at_home(_MORE[0] - all_machines(anew).pods)
    print(f"     {count} of {count} pods bound\n", flush=True)


def _show_at_home(pods: int) -> None:
    if pods > 0:
        print(f"       the other {pods}: on existing machines")


def _let_load_drop(cluster: LocalCluster, scene: DemoScene) -> None:
    """The remaining pods are moved together, and unused machines are given back."""
    growing.run_kubectl(
        cluster, "patch", "nodepool", "default", "--type=merge", "-p", json.dumps(_IN_A_HURRY)
    )
    left = {name: replicas * 2 // 5 for name, (replicas, _) in _WORKLOADS.items()} | {"more": 0}
    offers, before = scene.offers(), scene.machines()
    print(
        f"  5  Load drops: {scene.bound()} pods become {sum(left.values())}. Pods are moved ",
        end="",
    )
    print("together where that saves more than it costs.", flush=True)
    for name, replicas in left.items():
        growing.run_kubectl(cluster, "scale", "deployment", name, f"--replicas={replicas}")
    started = time.monotonic()
    rest = scene.settled(sum(left.values()))
    offers |= scene.offers()
    after = scene.machines()
    come = sorted(after - before)
    print(f"     {len(before)} machines at {_cost(before, offers)} per hour become ", end="")
    print(f"{len(after)} at {_cost(after, offers)} within {_seconds(rest.since - started)}:")
    _show(given_back(before - after, offers, rest.reasons))
    _show(f"+{money(offers[name].price)}   1 x {offers[name].server_type}" for name in come)
    print(f"     {sum(left.values())} of {sum(left.values())} pods bound\n", flush=True)


def _cost(machines: Iterable[str], offers: Mapping[str, DemoOffer]) -> str:
    return money(sum((Decimal(offers[name].price) for name in machines), Decimal(0)))


def _show(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"       {line}", flush=True)


def _seconds(span: float) -> str:
    return f"{span * 1000:.0f} ms" if span < 1 else f"{span:.1f} s"


def _refused(*command: str, given: str) -> str:
    done = answer_of(command, within=PATIENCE, given=given)
    if done.returncode == 0:
        raise GiveUp(f"{Path(command[0]).name} accepted what it should have rejected")
    return done.stderr


def _look_around(cluster: LocalCluster) -> None:
    print(
        f"  The cluster keeps running. Explore it:  export KUBECONFIG={cluster.kubeconfig}\n"
        f"                                          {cluster.kubectl} get growth,nodes,pods\n"
        f"                                          tail -f {cluster.folder}/growth.log\n"
        f"  Stop it:                                make down NAME={_NAME}"
    )


def _step(subject: str, what: str, state: str, *, since: float) -> None:
    print(f"  {subject:15} {what:51} {state:23} {time.monotonic() - since:6.1f} s", flush=True)


def _indented(text: str) -> None:
    for line in text.strip().splitlines():
        print(f"       {line}")
