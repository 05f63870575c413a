"""`python -m kwok down`: remove a cluster with all its processes, ports and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwok.clusters import checked_name, cluster_lock, find_cluster
from kwok.progress import Progress

if TYPE_CHECKING:
    import argparse

SUMMARY = "remove a cluster with all its processes and files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `down`."""
    parser.add_argument("--name", default="growth", help="the cluster's name (default: growth)")


def run(arguments: argparse.Namespace) -> int:
    """Remove the cluster; it isn't an error if there is none."""
    bring_down(checked_name(arguments.name), progress=Progress())
    return 0


def bring_down(name: str, *, progress: Progress) -> None:
    """Remove the cluster with this name, whether complete or not."""
    with cluster_lock(name, waiting=lambda: progress.wait(f'waiting for the `up` of "{name}"')):
        cluster = find_cluster(name)
        if cluster is None:
            progress.say(f'there is no cluster "{name}"')
            return
        cluster.remove()
        progress.say(f'cluster "{name}" is removed')
