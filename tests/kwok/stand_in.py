"""A trivial autoscaler, as a peer in benchmarks: for each pending pod the cheapest node for it.

`python -m tests.kwok.stand_in` reads KUBECONFIG and GROWTH_PEER_CATALOGUE, as any peer does.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from growth.kube.transport import connect
from growth.scheduling.resources import parse_resources

if TYPE_CHECKING:
    from growth.kube.transport import Connection

PAUSE = 0.2


def offers() -> list[dict[str, Any]]:
    """The price list, the cheapest first."""
    folder = Path(os.environ["GROWTH_PEER_CATALOGUE"])
    found: list[dict[str, Any]] = json.loads((folder / "catalogue.json").read_text("utf-8"))
    return sorted(found, key=lambda each: each["pricePerHour"])


async def autoscale(sold: list[dict[str, Any]]) -> None:
    """Buy until it is ended."""
    bought: set[str] = set()
    async with await connect(
        kubeconfig=Path(os.environ["KUBECONFIG"]), process="stand-in"
    ) as connection:
        while True:
            for pod in (await connection.request("GET", "/api/v1/pods")).json()["items"]:
                name = pod["metadata"]["name"]
                if "nodeName" not in pod["spec"] and name not in bought:
                    bought.add(name)
                    await buy(connection, pod, sold)
            await asyncio.sleep(PAUSE)


async def buy(connection: Connection, pod: dict[str, Any], sold: list[dict[str, Any]]) -> None:
    """The cheapest node for one pod."""
    [container] = pod["spec"]["containers"]
    wanted = parse_resources(container["resources"]["requests"])
    for offer in sold:
        node = offer["node"]
        if parse_resources(node["status"]["allocatable"]).covers(wanted):
            metadata = {**node["metadata"], "name": f"for-{pod['metadata']['name']}"}
            await connection.request("POST", "/api/v1/nodes", body={**node, "metadata": metadata})
            return


if __name__ == "__main__":
    asyncio.run(autoscale(offers()))
