"""`python -m kwok up`: start a cluster, or print one line that says why not."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from growth.errors import GiveUp, Misconfigured
from kwok import growing
from kwok.apiserver import component_is_healthy
from kwok.clusters import (
    COMPONENTS,
    LocalCluster,
    checked_name,
    cluster_lock,
    find_cluster,
    new_cluster,
)
from kwok.configuration import scheduler_configuration
from kwok.finding import IN_CACHE
from kwok.joining import kubeadm_for, open_to_machines
from kwok.programs import add_program_arguments, programs_for
from kwok.progress import Progress
from kwok.real import TRY_IT, check_real_machines, make_real_pool, start_cloud
from kwok.starting import start_cluster
from kwok.waiting import Patience, wait_for

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from kwok.finding import FoundProgram

SUMMARY = "start a cluster and print its KUBECONFIG"
_ANSWERS_WITHIN: Final = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `up`."""
    parser.add_argument("--name", default="growth", help="the cluster's name (default: growth)")
    parser.add_argument(
        "--scheduler-config",
        type=Path,
        metavar="FILE",
        help="kube-scheduler configuration (default: one with raised rate limits)",
    )
    parser.add_argument(
        "--growth",
        action="store_true",
        help="also start growth: its objects in the cluster, and its processes next to it",
    )
    parser.add_argument(
        "--joinable",
        action="store_true",
        help="let machines with a kubelet join with kubeadm; kwok then simulates only nodes that "
        "are annotated kwok.x-k8s.io/node=fake",
    )
    parser.add_argument(
        "--real",
        action="store_true",
        help="also start growth, and a cloud on this machine whose servers really boot and join; "
        "needs root and what `make programs` builds (implies --growth and --joinable)",
    )
    add_program_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Start the cluster, or find that it is running."""
    name = checked_name(arguments.name)
    progress = Progress()
    if arguments.real:
        check_real_machines()
        arguments.growth = arguments.joinable = True
    cluster = bring_up(name, arguments=arguments, progress=progress)
    cloud = start_cloud(cluster) if arguments.real else {}
    if arguments.growth:
        grow(cluster, progress=progress, settings=cloud)
    if arguments.real:
        make_real_pool(cluster)
        progress.say(f"servers boot on this machine; buy one: {TRY_IT}")
    for line in where_kubectl_is(cluster):
        progress.say(line)
    print(f"KUBECONFIG={cluster.kubeconfig}", flush=True)
    return 0


def where_kubectl_is(cluster: LocalCluster) -> Iterator[str]:
    """Where to find the kubectl that comes with the cluster, if there is none on PATH."""
    if shutil.which("kubectl") is None:
        yield f"kubectl isn't on PATH; there is one in {cluster.kubectl.parent}"


def bring_up(name: str, *, arguments: argparse.Namespace, progress: Progress) -> LocalCluster:
    """The cluster with this name, ready: running, repaired, or new."""
    scheduler = scheduler_configuration(arguments.scheduler_config)
    programs = programs_for(arguments, progress)

    def say_waiting() -> None:
        progress.wait(f'another command is working on cluster "{name}": waiting for it')

    with cluster_lock(name, waiting=say_waiting):
        found = find_cluster(name)
        if found is not None and _answers(found, progress):
            _check_same(found, arguments, programs, scheduler)
            progress.say(f'cluster "{name}" is already running')
            return found
        if found is not None:
            progress.say(f'cluster "{name}" is broken: removing it and starting a new one')
            found.remove()
        new = new_cluster(
            name,
            version=str(programs["kube-apiserver"].version),
            kubectl=programs["kubectl"].path,
            scheduler=scheduler,
        )
        new = replace(new, extended=arguments.growth, joinable=arguments.joinable)
        ready = _started(new, programs, progress)
        return _opened(ready, arguments, progress) if ready.joinable else ready


def grow(
    cluster: LocalCluster,
    *,
    progress: Progress,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Install growth in the cluster, start its processes, and wait until it leads."""
    started = time.monotonic()
    progress.show("growth: installing its objects, starting its processes")
    growing.install(cluster)
    log = growing.start_growth(cluster, settings=settings)
    seconds = time.monotonic() - started
    progress.say(f"growth: leading after {seconds:.1f} s; its log: {log}")
    if not cluster.extended:
        progress.say(
            f'cluster "{cluster.name}" was started without --growth: its scheduler does not call '
            "the extender. Everything else works; to change that, remove it and start it again"
        )


def _check_same(
    found: LocalCluster,
    arguments: argparse.Namespace,
    programs: Mapping[str, FoundProgram],
    scheduler: str,
) -> None:
    """Options that are given must match the running cluster; the others may be anything."""
    version = str(programs["kube-apiserver"].version)
    differs = ""
    if arguments.kube_version is not None and found.version != version:
        differs = f"Kubernetes {found.version}"
    elif arguments.scheduler_config is not None and found.scheduler != scheduler:
        differs = "another scheduler configuration"
    elif arguments.joinable and not found.joinable:
        differs = "no way for machines to join"
    if differs:
        end = f"python -m kwok down --name {found.name}"
        raise Misconfigured(
            f'cluster "{found.name}" is running with {differs}; remove it first: {end}'
        )


def _started(
    new: LocalCluster, programs: Mapping[str, FoundProgram], progress: Progress
) -> LocalCluster:
    for found in programs.values():
        if found.origin != IN_CACHE:
            progress.say(str(found))
    began = time.monotonic()
    ready = start_cluster(new, programs, progress)
    seconds = time.monotonic() - began
    progress.say(f'cluster "{new.name}", Kubernetes {new.version}: ready in {seconds:.1f} s')
    return ready


def _opened(
    cluster: LocalCluster, arguments: argparse.Namespace, progress: Progress
) -> LocalCluster:
    try:
        open_to_machines(cluster, kubeadm=kubeadm_for(arguments, progress))
    except BaseException:
        cluster.remove()
        raise
    return cluster


def is_well(cluster: LocalCluster) -> bool:
    """Whether a cluster was ready once and all of its programs are still running."""
    return _runs(cluster) and component_is_healthy(cluster, "kube-apiserver")


def _runs(cluster: LocalCluster) -> bool:
    alive = {process.name for process in cluster.running()}
    return cluster.ready and alive >= set(COMPONENTS)


def _answers(cluster: LocalCluster, progress: Progress) -> bool:
    """The same with patience, because a broken cluster is removed with everything in it."""
    if not _runs(cluster):
        return False
    goal = f'an answer of cluster "{cluster.name}"'

    def look() -> bool:
        progress.show(f"waiting for {goal}")
        return component_is_healthy(cluster, "kube-apiserver")

    try:
        return wait_for(look, goal, patience=Patience(_ANSWERS_WITHIN))
    except GiveUp:
        return False
