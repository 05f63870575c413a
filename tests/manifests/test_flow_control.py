"""Fair queuing in the API server: growth's requests don't wait behind those of other accounts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from growth.kube.transport import connect
from tests.live import wait_until
from tests.manifests.reading import ALL, SYSTEM
from tests.manifests.test_rights import token_of
from tests.manifests.witness import witness

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

NODES = "/api/v1/nodes"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/growth-reconciler"
SCHEMAS = [each for each in ALL if each["kind"] == "FlowSchema"]
INSTALLED = {"growth", "growth-leader-election"}
"""Without the second scheduler, which has a flow of its own."""


def accounts_of(schemas: list[dict[str, object]]) -> set[str]:
    subjects = [
        subject["serviceAccount"]
        for schema in schemas
        for rule in schema["spec"]["rules"]  # type: ignore[index]
        for subject in rule["subjects"]
    ]
    assert {each["namespace"] for each in subjects} == {SYSTEM}
    return {each["name"] for each in subjects}


def test_every_account_of_growth_has_its_flow() -> None:
    installed = {each["metadata"]["name"] for each in ALL if each["kind"] == "ServiceAccount"}

    assert accounts_of(SCHEMAS) == installed


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("account", "path", "schema"),
    [
        ("growth-reconciler", NODES, "growth"),
        ("growth-reconciler", LEASE, "growth-leader-election"),
        ("growth-extender", NODES, "growth"),
    ],
)
async def test_requests_of_an_account_land_in_its_flow(
    installed: LiveCluster, tmp_path: Path, account: str, path: str, schema: str
) -> None:
    await asyncio.to_thread(wait_until_judged, installed)
    token = await asyncio.to_thread(token_of, installed, account)
    async with (
        witness(installed, token, tmp_path) as proxy,
        await connect(kubeconfig=proxy.kubeconfig, process="test") as connection,
    ):
        answer = await connection.request("GET", path)

    assert answer.headers["X-Kubernetes-PF-FlowSchema-UID"] == uid(installed, "flowschema", schema)


@pytest.mark.cluster
def test_every_flow_leads_to_a_level_that_exists(installed: LiveCluster) -> None:
    wait_until_judged(installed)

    assert dangling(installed) == dict.fromkeys(INSTALLED, "False")


def wait_until_judged(cluster: LiveCluster) -> None:
    """The API server looks at new flows a moment after it has accepted them."""
    wait_until(lambda: {*dangling(cluster)} == INSTALLED, "the flows are judged", within=180)


def dangling(cluster: LiveCluster) -> dict[str, str]:
    """What the API server says of growth's flows, once it has looked at them."""
    return {
        schema["metadata"]["name"]: condition["status"]
        for schema in cluster.get("flowschemas")["items"]
        for condition in schema.get("status", {}).get("conditions", ())
        if condition["type"] == "Dangling" and schema["metadata"]["name"].startswith("growth")
    }


def uid(cluster: LiveCluster, *words: str) -> str:
    found: str = cluster.get(*words)["metadata"]["uid"]
    return found
