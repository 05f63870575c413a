"""The story that is told at every point: 30 pods of 3 shapes get their nodes and are bound.

Each pod asks for a pool of its own, so no pod can take the machine that was bought for another one:
the end of the story doesn't depend on who comes first.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from itertools import product
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.api.wellknown import GROUP_VERSION, INSTANCE_TYPE_LABEL, MANAGED_BY_LABEL, POOL_LABEL
from growth.errors import RetryLater
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.kube.transport import Connection

SHAPES: Final = {
    "cx23": {"cpu": "1500m", "memory": "1Gi"},
    "cx33": {"cpu": "3", "memory": "6Gi"},
    "cax31": {"cpu": "6", "memory": "12Gi"},
}
"""Each needs a machine of the type that it is called by."""
EACH: Final = 10
REPLICA_SETS: Final = "/apis/apps/v1/namespaces/default/replicasets"
PODS: Final = "/api/v1/namespaces/default/pods"
NODES: Final = "/api/v1/nodes"
POOLS: Final = f"/apis/{GROUP_VERSION}/nodepools"
REQUESTS: Final = f"/apis/{GROUP_VERSION}/noderequests"
REMOVALS: Final = f"/apis/{GROUP_VERSION}/noderemovalrequests"
RECORDS: Final = f"/apis/{GROUP_VERSION}/noderecords"
CLASSES: Final = f"/apis/{GROUP_VERSION}/kwoknodeclasses"
OURS: Final = {"labelSelector": f"{MANAGED_BY_LABEL}=growth"}
WITHIN: Final = 180.0
A_LIFE: Final = 40.0
"""Seconds that the end of a process may cost: on a busy machine the next one takes 13 to 32 until
it leads and has seen everything."""


class End(NamedTuple):
    """What a story comes to."""

    machines: Counter[str]
    """Nodes by type."""
    unknown: frozenset[str]
    """Nodes without a request, and requests without a node."""
    bound: Counter[str]
    """Pods by the type of their node, which has to be that of their shape."""


def furniture() -> Iterator[dict[str, Any]]:
    """A catalogue of machines that are there at once, and a pool for each pod."""
    sold = [
        ("cx23", {"cpu": "2", "memory": "4Gi", "pods": "110"}, "0.0088"),
        ("cx33", {"cpu": "4", "memory": "8Gi", "pods": "110"}, "0.0136"),
        ("cax31", {"cpu": "8", "memory": "16Gi", "pods": "110"}, "0.0200"),
        ("spare", {"cpu": "16", "memory": "32Gi", "pods": "110"}, "0.0500"),
    ]
    catalogue = [
        {"name": name, "resources": resources, "offers": [{"location": "here", "price": price}]}
        for name, resources, price in sold
    ]
    delay = {"min": "0s", "max": "0s"}
    yield ours("KwokNodeClass", "default", {"types": catalogue, "bootDelay": delay})
    for shape, number in product(SHAPES, range(EACH)):
        # Room for a second machine, of the same type or a dearer one: whether there is one is what
        # the tests ask.
        types = [{"name": shape, "max": 2}, {"name": "spare", "max": 2}]
        yield ours("NodePool", f"{shape}-{number}", {"serverTypes": types})


def pods(story: int = 0, *, each: int = EACH) -> Iterator[dict[str, Any]]:
    """All that are wanted, at the same moment; so many of each shape."""
    for shape, number in product(SHAPES, range(each)):
        container = {"name": "main", "image": "none", "resources": {"requests": SHAPES[shape]}}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{shape}-{story}-{number}", "namespace": "default"},
            "spec": {
                "containers": [container],
                "nodeSelector": {POOL_LABEL: f"{shape}-{number}"},
            },
        }


async def furnish(connection: Connection) -> None:
    """Everything that is there before the story."""
    paths = {"NodePool": POOLS, "KwokNodeClass": CLASSES}
    for document in furniture():
        await connection.request("POST", paths[document["kind"]], body=document)


async def begin(connection: Connection, story: int, *, each: int = EACH) -> None:
    """All pods are wanted at the same moment."""
    async with asyncio.TaskGroup() as tasks:
        for pod in pods(story, each=each):
            tasks.create_task(connection.request("POST", PODS, body=pod))


async def settled(connection: Connection, *, each: int = EACH, kills: int = 0) -> None:
    """Until every pod has a node and every request has done its work."""
    began, within = monotonic(), WITHIN + kills * A_LIFE
    while not await _is_settled(connection, each):
        assert monotonic() - began < within, f"not settled: {await end(connection)}"
        await asyncio.sleep(0.05)


async def end(connection: Connection) -> End:
    """What there is now."""
    types = {
        node["metadata"]["name"]: node["metadata"]["labels"][INSTANCE_TYPE_LABEL]
        for node in await items(connection, NODES, OURS)
    }
    names = {each["metadata"]["name"] for each in await requests(connection)}
    bound = (
        types[node] if (node := pod["spec"].get("nodeName")) else "nowhere"
        for pod in await items(connection, PODS)
    )
    return End(Counter(types.values()), frozenset(types.keys() ^ names), Counter(bound))


async def clear(connection: Connection) -> None:
    """Everything that the story has made goes; pools and catalogue stay."""
    now = {"gracePeriodSeconds": 0}
    await connection.request("DELETE", PODS, body=now)
    await connection.request("DELETE", REQUESTS, body={})
    await connection.request("DELETE", NODES, query=OURS, body=now)
    began = monotonic()
    while (held := await requests(connection)) or await items(connection, PODS):
        # Nobody may be there any more to let them go.
        for each in held:
            free = {"metadata": {"finalizers": None}}
            path = f"{REQUESTS}/{each['metadata']['name']}"
            with suppress(NotFound):
                await connection.request("PATCH", path, body=free, content_type=MERGE_PATCH)
        assert monotonic() - began < WITHIN, "pods or requests are still there"
        await asyncio.sleep(0.05)


async def nothing_in_vain(connection: Connection, _each: int) -> bool:
    """Whether no pool says that a machine was bought in vain."""
    pools = await items(connection, POOLS)
    return not any(pool.get("status", {}).get("unserved") for pool in pools)


async def all_bound(connection: Connection, each: int) -> bool:
    """Whether so many pods of each shape have their nodes."""
    found = await items(connection, PODS)
    return len(found) == each * len(SHAPES) and all("nodeName" in pod["spec"] for pod in found)


async def all_requested(connection: Connection, each: int) -> bool:
    """Whether so many machines of each shape are asked for."""
    return len(await requests(connection)) == each * len(SHAPES)


async def requests(connection: Connection) -> list[dict[str, Any]]:
    """All there are."""
    return await items(connection, REQUESTS)


async def _is_settled(connection: Connection, each: int) -> bool:
    is_done = all(
        request.get("status", {}).get("phase") == "Ready"
        and not request["metadata"].get("finalizers")
        for request in await requests(connection)
    )
    return is_done and await all_bound(connection, each)


async def items(connection: Connection, path: str, query: Any = ()) -> list[dict[str, Any]]:
    """All objects of a kind."""
    while True:
        # Right after the definitions have been made, their store is not always ready.
        with suppress(RetryLater):
            found = (await connection.request("GET", path, query=query)).json()["items"]
            return list(found)
        await asyncio.sleep(0.1)


def ours(kind: str, name: str, spec: Any) -> dict[str, Any]:
    """One of our objects, as it is applied."""
    return {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
