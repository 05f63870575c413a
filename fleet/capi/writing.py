"""The Cluster that Cluster API is asked for: always the whole intent.

What an apply leaves out, it removes. So nodes are scaled by applying the whole cluster again, with
other replicas in all zones at once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fleet.capi.objects import RECORD_LABEL, VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.api.clusterfleet import FleetRow
    from growth.api.clusterrecord import ClusterRecord


def cluster_body(
    record: ClusterRecord, row: FleetRow, *, namespace: str, nodes: int
) -> dict[str, Any]:
    """The whole Cluster of a record, with so many compute nodes."""
    topology = {
        "classRef": {"name": row.cluster_class},
        "version": row.version,
        "controlPlane": {"replicas": row.control_plane_replicas},
        "variables": [
            {"name": each.name, "value": json.loads(each.value)} for each in row.variables
        ],
        "workers": {"machineDeployments": _deployments(row, nodes)},
    }
    return {
        "apiVersion": VERSION,
        "kind": "Cluster",
        "metadata": {
            "name": record.name,
            "namespace": namespace,
            "labels": {RECORD_LABEL: record.metadata.uid},
        },
        "spec": {"topology": topology},
    }


def _deployments(row: FleetRow, nodes: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"compute-{zone.lower()}",
            "class": row.worker_class,
            "failureDomain": zone,
            "replicas": replicas,
        }
        for zone, replicas in zip(row.zones, spread_evenly(nodes, row.zones), strict=True)
    ]


def spread_evenly(nodes: int, zones: Sequence[str]) -> list[int]:
    """Nodes of each zone. What is left over goes to the first zones."""
    each, rest = divmod(nodes, len(zones))
    return [each + (number < rest) for number in range(len(zones))]
