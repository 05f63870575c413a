"""`python -m kwok status`: list the clusters and their state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from kwok.clusters import LocalCluster, all_clusters, is_worked_on
from kwok.up import is_well

if TYPE_CHECKING:
    import argparse

SUMMARY = "list the clusters"
COLUMNS: Final = ("name", "state", "version", "port", "kubeconfig")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `status`."""
    parser.add_argument(
        "-o", "--output", choices=("table", "json"), default="table", help="how to print it"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the clusters."""
    rows = [_row(cluster) for cluster in all_clusters()]
    if arguments.output == "json":
        print(json.dumps(rows, indent=2))
        return 0
    table: list[dict[str, str | int]] = [{column: column.upper() for column in COLUMNS}, *rows]
    widths = {column: max(len(str(row[column])) for row in table) for column in COLUMNS}
    for row in table:
        print("  ".join(f"{row[column]!s:<{widths[column]}}" for column in COLUMNS).rstrip())
    return 0


def _state(cluster: LocalCluster) -> str:
    if is_worked_on(cluster.name):
        return "starting or ending"
    return "ready" if is_well(cluster) else "broken"


def _row(cluster: LocalCluster) -> dict[str, str | int]:
    return {
        "name": cluster.name,
        "state": _state(cluster),
        "version": cluster.version,
        "port": cluster.ports.get("kube-apiserver", 0),
        "kubeconfig": str(cluster.kubeconfig),
    }
