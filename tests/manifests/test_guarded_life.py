"""The ordinary life of a machine with the reconciler's own account: no policy refuses any of it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.live import wait_until
from tests.manifests.asking import asked
from tests.manifests.reading import SYSTEM
from tests.manifests.witness import witness
from tests.thread.growing import (
    EXAMPLE,
    FORGOTTEN,
    deployment,
    machines,
    pool_of,
    reconciling,
    wait_until_open,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

POOL: Final = "cx23"
NODES: Final = "/api/v1/nodes"


async def test_a_machine_lives_and_goes_and_no_policy_refuses_a_write(
    installed: LiveCluster, tmp_path: Path
) -> None:
    token = await asyncio.to_thread(
        installed.kubectl, "create", "token", "growth-reconciler", "--namespace", SYSTEM
    )
    async with witness(installed, token.strip(), tmp_path) as proxy:
        with_its_account = dataclasses.replace(installed, kubeconfig=proxy.kubeconfig)
        await asyncio.to_thread(live, installed, with_its_account, tmp_path / "log")
        of_its_life = [*proxy.denied]
        # The policies were in force: this one is refused, and noticed.
        foreign = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "foreign"}}
        await asyncio.to_thread(asked, proxy.kubeconfig, "POST", NODES, foreign)

    assert of_its_life == []
    assert proxy.denied == [f"POST {NODES}"]


def live(cluster: LiveCluster, with_its_account: LiveCluster, log: Path) -> None:
    """A machine is bought, changed, marked, wanted again, and drained with its pool's end."""
    cluster.kubectl("apply", "-f", str(EXAMPLE))
    pool = pool_of(POOL)
    pool["spec"] |= {**FORGOTTEN, "scaleDown": {"idleAfter": "1h"}}
    # As it is installed: the lease is beside it, and growth-certs keeps the certificates.
    settings = {"GROWTH_LEASE_NAMESPACE": SYSTEM, "GROWTH_CERTIFICATES": "external"}
    with reconciling(with_its_account, log, **settings):
        work = deployment("some", pool=POOL, replicas=1, cpu="1", memory="1Gi")
        cluster.create(pool, work)
        wait_until(lambda: is_served(cluster), "the node serves")
        wait_until_open(cluster)
        taint = {"key": "team", "value": "a", "effect": "PreferNoSchedule"}
        change_pool(cluster, labels={"team": "a"}, taints=[taint])
        wait_until(lambda: "team" in taints(cluster), "the node is mended")
        scale(cluster, 0)
        wait_until(lambda: "growth.dev/scale-down" in taints(cluster), "the mark")
        # A pod that ends needs its room for a while.
        pods = ("pods", "--selector=app=some")
        wait_until(lambda: not cluster.get(*pods)["items"], "its pod is gone")
        scale(cluster, 1)
        wait_until(lambda: is_served(cluster), "the node is wanted again")
        cluster.kubectl("delete", "nodepool", POOL, "--wait=false")
        wait_until(lambda: not machines(cluster), "the node is drained and gone", within=180)
    cluster.kubectl("delete", "deployment", "some")


def is_served(cluster: LiveCluster) -> bool:
    pods = cluster.get("pods", "--selector=app=some")["items"]
    bound = [pod["spec"].get("nodeName") for pod in pods]
    return bound == [*machines(cluster)] and not any(
        key.startswith("growth.dev/") for key in taints(cluster)
    )


def taints(cluster: LiveCluster) -> list[str]:
    nodes = cluster.get("nodes", "--selector", "growth.dev/managed-by=growth")["items"]
    return [taint["key"] for node in nodes for taint in node["spec"].get("taints", ())]


def change_pool(cluster: LiveCluster, **spec: Any) -> None:
    patch = json.dumps({"spec": spec})
    cluster.kubectl("patch", "nodepool", POOL, "--type=merge", f"--patch={patch}")


def scale(cluster: LiveCluster, count: int) -> None:
    cluster.kubectl("scale", "deployment", "some", f"--replicas={count}")
