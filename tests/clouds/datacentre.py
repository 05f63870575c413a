"""Servers that boot: each does what its user data says, and its node is in the cluster.

The project is the fake of Hetzner's API, the cluster is real, and kwok keeps the nodes alive. What
a cloud controller does is done here too: labels by place and type, and the end of a node whose
server is gone.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import yaml

from growth.errors import RetryLater
from growth.kube.errors import AlreadyExists, NotFound
from growth.kube.transport import connect
from reconciler.providers.hetzner.catalogue import ARCHITECTURES, ZONES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from growth.kube.transport import Connection
    from tests.hetzner.fake.project import Project
    from tests.hetzner.fake.records import Server

NODES: Final = "/api/v1/nodes"
AGENT: Final = "/etc/rancher/k3s/config.yaml"
USUAL: Final = 0.93
"""Of the memory that is sold, what a node has."""


class Datacentre:
    """The hosts of one project, and the cluster that its servers join."""

    def __init__(self, project: Project, kubeconfig: Path) -> None:
        self.project = project
        self.joins: Callable[[Server], bool] = lambda _: True
        """Whether a server's boot comes to its end."""
        self._kubeconfig = kubeconfig
        self._joined: dict[int, str] = {}

    async def run(self) -> None:
        """Boot what is there, until it is cancelled."""
        async with await connect(kubeconfig=self._kubeconfig, process="datacentre") as connection:
            while True:
                self.project.catch_up()
                # Agents and controllers try again while the API server is away.
                with suppress(RetryLater):
                    await self._boot(connection)
                    await self._tell_the_ends(connection)
                await asyncio.sleep(0.05)

    async def _boot(self, connection: Connection) -> None:
        for server in list(self.project.servers.values()):
            runs = server.status(self.project.now) == "running"
            if runs and server.id not in self._joined and self._is_ours(server):
                with suppress(AlreadyExists):
                    await connection.request("POST", NODES, body=node_of(server, self.project))
                self._joined[server.id] = server.name

    def _is_ours(self, server: Server) -> bool:
        return bool(server.body.get("user_data")) and self.joins(server)

    async def _tell_the_ends(self, connection: Connection) -> None:
        for gone in self._joined.keys() - self.project.servers.keys():
            with suppress(NotFound):
                await connection.request("DELETE", f"{NODES}/{self._joined[gone]}")
            del self._joined[gone]


def node_of(server: Server, project: Project) -> dict[str, Any]:
    """The node that the agent and the cloud controller make of a server."""
    agent = configuration(server.body["user_data"])
    server_type, place = project.types[server.body["server_type"]], server.body["location"]
    amounts = {
        "cpu": str(server_type.cores),
        "memory": str(int(server_type.memory * USUAL * 2**30)),
        "ephemeral-storage": f"{server_type.disk}G",
        "pods": "110",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": agent["node-name"],
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": ARCHITECTURES[server_type.architecture],
                "kubernetes.io/hostname": agent["node-name"],
                "node.kubernetes.io/instance-type": server_type.name,
                "topology.kubernetes.io/region": place,
                "topology.kubernetes.io/zone": ZONES.get(place, place),
                "csi.hetzner.cloud/location": place,
                "instance.hetzner.cloud/provided-by": "cloud",
                **dict(label.split("=", 1) for label in agent["node-label"]),
            },
        },
        "spec": {
            "providerID": f"hcloud://{server.id}",
            "taints": [_taint(each) for each in agent["node-taint"]],
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def configuration(user_data: str) -> dict[str, Any]:
    """What the agent of k3s is told."""
    files: Iterator[dict[str, Any]] = iter(yaml.safe_load(user_data)["write_files"])
    told: dict[str, Any] = yaml.safe_load(
        next(it["content"] for it in files if it["path"] == AGENT)
    )
    return told


def _taint(written: str) -> dict[str, str]:
    named, effect = written.rsplit(":", 1)
    key, _, value = named.partition("=")
    return {"key": key, "value": value, "effect": effect}
