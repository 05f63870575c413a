"""Pods for the cache's benchmark: always pending, and as large as real ones."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from growth.kube.errors import AlreadyExists, Denied

if TYPE_CHECKING:
    from growth.kube.transport import Connection

NAMESPACE = "benchmark"
WRITERS = 16


async def create_pods(connection: Connection, count: int) -> int:
    """Create the missing pods; returns the size of one as the API server sends it."""
    with suppress(AlreadyExists):
        await connection.request(
            "POST", "/api/v1/namespaces", body={"metadata": {"name": NAMESPACE}}
        )
    missing = iter(range(count))

    async def write() -> None:
        for number in missing:
            await _create(connection, number)

    await asyncio.gather(*(write() for _ in range(WRITERS)))
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    page = await connection.request("GET", path, query={"limit": "1"})
    return len(page.body)


async def _create(connection: Connection, number: int) -> None:
    with suppress(AlreadyExists):
        while True:
            try:
                await connection.request(
                    "POST", f"/api/v1/namespaces/{NAMESPACE}/pods", body=_pod(number)
                )
            except Denied:
                # The namespace's service account appears a moment after the namespace.
                await asyncio.sleep(0.1)
            else:
                return


def _pod(number: int) -> dict[str, Any]:
    application = f"web-{number % 50}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"web-{number:05d}",
            "labels": {"app": application, "tier": "front", "release": f"r{number % 9}"},
            "annotations": {"example.org/note": "x" * 300},
        },
        "spec": {
            "schedulerName": "nobody",
            "containers": [_container("main", number), _container("side", number)],
            "tolerations": [{"key": "example.org/dedicated", "operator": "Exists"}],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": application}},
                }
            ],
        },
    }


def _container(name: str, number: int) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.example.org/team/{name}:1.{number % 7}",
        "env": [
            {"name": f"SETTING_{each:02d}", "value": f"value-{each}-of-{name}"}
            for each in range(24)
        ],
        "resources": {
            "requests": {"cpu": "250m", "memory": "512Mi"},
            "limits": {"memory": "1Gi"},
        },
        "readinessProbe": {"exec": {"command": ["/bin/ready"]}, "periodSeconds": 5},
    }
