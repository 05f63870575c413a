"""`python -m kwok down`: a cluster's end, without a process, a port or a file left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwok.clusters import checked_name, cluster_lock, find_cluster
from kwok.progress import Progress

if TYPE_CHECKING:
    import argparse

SUMMARY = "remove a cluster without a trace"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `down`."""
    parser.add_argument("--name", default="growth", help="the cluster's name (default: growth)")


def run(arguments: argparse.Namespace) -> int:
    """Remove it; one that is not there is no mistake."""
    bring_down(checked_name(arguments.name), progress=Progress())
    return 0


def bring_down(name: str, *, progress: Progress) -> None:
    """Remove the cluster of that name, whole or half-made."""
    with cluster_lock(name, waiting=lambda: progress.wait(f'waiting for the `up` of "{name}"')):
        cluster = find_cluster(name)
        if cluster is None:
            progress.say(f'there is no cluster "{name}"')
            return
        cluster.remove()
        progress.say(f'cluster "{name}" is removed')
