"""The story with everything that goes wrong in it: 20 pods get their nodes though machines fail.

Sixteen machines come as they should. Of the other four one is sold out, one fails while it boots,
the answer to one is lost, and one never joins and is given back, which fails twice. Each pod asks
for a pool of its own, so no pod can take the machine that was bought for another one: the end of
the story doesn't depend on who comes first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.api.wellknown import INSTANCE_TYPE_LABEL, POOL_LABEL
from tests.thread.thirty import (
    A_LIFE,
    CLASSES,
    NODES,
    OURS,
    PODS,
    POOLS,
    REMOVALS,
    REQUESTS,
    items,
    ours,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.kube.transport import Connection

SHAPE: Final = {"cpu": "1500m", "memory": "1Gi"}
GOOD: Final = tuple(f"good-{number}" for number in range(16))
TROUBLED: Final = ("soldout", "frail", "unheard", "mute")
FAULTS: Final = (
    {"kind": "StockOut", "serverType": "soldout"},
    {"kind": "FailedBoot", "serverType": "frail"},
    {"kind": "LostAnswer", "serverType": "unheard", "count": 1},
    {"kind": "NeverReady", "serverType": "mute", "count": 1},
    {"kind": "DeleteFails", "serverType": "mute", "count": 2},
)
WITHIN: Final = 180.0
"""Seconds for a telling in which nothing is killed; each end of the process adds `A_LIFE`."""
UNFINISHED: Final = frozenset({"Pending", "Provisioning", "Deprovisioning"})


class End(NamedTuple):
    """What the story comes to."""

    machines: Counter[str]
    """Nodes by type."""
    unknown: frozenset[str]
    """Nodes without a request, and requests that serve without a node."""
    bound: Counter[str]
    """Pods by the type of their node."""
    removals: int
    """Machines that are still being given back."""


def furniture() -> Iterator[dict[str, Any]]:
    """A catalogue with failures in it, and a pool for each pod."""
    resources = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    prices = dict.fromkeys(("good", *TROUBLED), "0.0088") | {"spare": "0.0500"}
    catalogue = [
        {"name": name, "resources": resources, "offers": [{"location": "here", "price": price}]}
        for name, price in prices.items()
    ]
    spec = {"types": catalogue, "faults": list(FAULTS), "bootDelay": {"min": "0s", "max": "0s"}}
    yield ours("KwokNodeClass", "default", spec)
    for pool in (*GOOD, *TROUBLED):
        types = [{"name": pool.split("-")[0], "max": 2}]
        if pool == "mute":
            # Only who never joins is waited for: under load a good machine may take its time.
            wait = {"readinessWait": "8s"}
        else:
            wait, types = {}, [*types, {"name": "spare", "max": 2}]
        spec = {"serverTypes": types, "scaleDown": {"retryAfter": "1s"}, **wait}
        yield ours("NodePool", pool, spec)


async def furnish(connection: Connection) -> None:
    """Everything that is there before the story."""
    paths = {"NodePool": POOLS, "KwokNodeClass": CLASSES}
    for document in furniture():
        await connection.request("POST", paths[document["kind"]], body=document)


async def begin(connection: Connection, story: int) -> None:
    """All pods are wanted at the same moment."""
    async with asyncio.TaskGroup() as tasks:
        for pool in (*GOOD, *TROUBLED):
            tasks.create_task(connection.request("POST", PODS, body=_pod(pool, story)))


async def settled(connection: Connection, *, kills: int = 0) -> None:
    """Until every pod has a node, and nothing comes or goes any more."""
    began, within = monotonic(), WITHIN + kills * A_LIFE
    while not await _is_settled(connection):
        assert monotonic() - began < within, f"not settled: {await end(connection)}"
        await asyncio.sleep(0.1)


async def end(connection: Connection) -> End:
    """What there is now."""
    types = {
        node["metadata"]["name"]: node["metadata"]["labels"][INSTANCE_TYPE_LABEL]
        for node in await items(connection, NODES, OURS)
    }
    serving = {
        each["metadata"]["name"]
        for each in await items(connection, REQUESTS)
        if each.get("status", {}).get("phase") != "Unmet"
    }
    bound = (
        types.get(node, "nowhere") if (node := pod["spec"].get("nodeName")) else "nowhere"
        for pod in await items(connection, PODS)
    )
    removals = await items(connection, REMOVALS)
    return End(
        Counter(types.values()), frozenset(types.keys() ^ serving), Counter(bound), len(removals)
    )


async def _is_settled(connection: Connection) -> bool:
    pods = await items(connection, PODS)
    requests = await items(connection, REQUESTS)
    return (
        len(pods) == len(GOOD) + len(TROUBLED)
        and all("nodeName" in pod["spec"] for pod in pods)
        and not await items(connection, REMOVALS)
        and not any(_is_unfinished(request) for request in requests)
    )


def _is_unfinished(request: dict[str, Any]) -> bool:
    phase = request.get("status", {}).get("phase", "Pending")
    return phase in UNFINISHED or bool(request["metadata"].get("finalizers"))


def _pod(pool: str, story: int) -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"requests": SHAPE}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{pool}-{story}", "namespace": "default"},
        "spec": {"containers": [container], "nodeSelector": {POOL_LABEL: pool}},
    }
