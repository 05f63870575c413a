"""`python -m kwok up`: a cluster that is ready, or one line that says why not."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kwok.apiserver import is_healthy
from kwok.clusters import COMPONENTS, Cluster, checked_name, cluster_lock, find_cluster, new_cluster
from kwok.configuration import checked_scheduler_configuration
from kwok.programs import add_program_arguments, programs_for
from kwok.progress import Progress
from kwok.starting import start

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from kwok.finding import Found

SUMMARY = "start a cluster and print its KUBECONFIG"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `up`."""
    parser.add_argument("--name", default="growth", help="the cluster's name (default: growth)")
    parser.add_argument(
        "--scheduler-config",
        type=Path,
        metavar="FILE",
        help="configuration of kube-scheduler, instead of one with raised limits",
    )
    add_program_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Start it, or find that it runs."""
    progress = Progress()
    cluster = bring_up(
        checked_name(arguments.name),
        arguments=arguments,
        progress=progress,
    )
    print(f"KUBECONFIG={cluster.kubeconfig}", flush=True)
    return 0


def bring_up(name: str, *, arguments: argparse.Namespace, progress: Progress) -> Cluster:
    """The cluster of that name, ready: as it is, repaired, or new."""
    given = arguments.scheduler_config
    scheduler_configuration = checked_scheduler_configuration(given) if given else None
    programs = programs_for(arguments, progress)

    def say_waiting() -> None:
        progress.say(f'another command works on cluster "{name}": waiting for it')

    with cluster_lock(name, waiting=say_waiting):
        return _healthy_or_new(name, programs, scheduler_configuration, progress)


def _healthy_or_new(
    name: str,
    programs: Mapping[str, Found],
    scheduler_configuration: Path | None,
    progress: Progress,
) -> Cluster:
    cluster = find_cluster(name)
    if cluster is not None:
        if is_well(cluster):
            progress.say(f'cluster "{name}" runs already')
            return cluster
        progress.say(f'cluster "{name}" is broken: removing it and starting it anew')
        cluster.remove()
    started = time.monotonic()
    version = str(programs["kube-apiserver"].version)
    new = replace(new_cluster(name), version=version, kubectl=programs["kubectl"].path)
    ready = start(new, programs, scheduler_configuration)
    progress.say(
        f'cluster "{name}", Kubernetes {version}: ready in {time.monotonic() - started:.1f} s'
    )
    return ready


def is_well(cluster: Cluster) -> bool:
    """Whether a cluster was ready once and all of it is still there."""
    alive = {process.name for process in cluster.running()}
    return cluster.ready and alive >= set(COMPONENTS) and is_healthy(cluster, "kube-apiserver")
