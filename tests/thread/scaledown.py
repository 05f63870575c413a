"""The story of giving back: the load of 20 nodes ends, and three of them are wanted after all.

Seventeen nodes go. Of the other three one is marked when a pod needs a node, one is marked when a
pod arrives that tolerates the mark, and one is to be deleted, which fails, when such a pod arrives.
Meanwhile a node that is too dear for its pod, which stays, is replaced by a cheaper one. Each node
has a pool of its own, so no pod can take the node that is left for another one. The nodes are there
from the beginning, without requests, as after the time that those are kept.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from growth.api.wellknown import (
    INSTANCE_TYPE_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    POOL_LABEL,
    PRICE_ANNOTATION,
    SCALE_DOWN_AT_ANNOTATION,
    SCALE_DOWN_TAINT,
)
from reconciler.providers.kwok.machines import (
    FAKE_NODE_ANNOTATION,
    REGION,
    REQUEST_UID_ANNOTATION,
    machine_id,
)
from tests.thread.thirty import (
    A_LIFE,
    CLASSES,
    NODES,
    OURS,
    PODS,
    POOLS,
    REMOVALS,
    REPLICA_SETS,
    REQUESTS,
    items,
    ours,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from growth.kube.transport import Connection

GOING: Final = tuple(f"idle-{number}" for number in range(17))
NEEDED, VISITED, STUCK = "needed", "visited", "stuck"
STAYING: Final = (NEEDED, VISITED, STUCK)
DEAR: Final = "dear"
TYPES: Final = {"plain": "0.0088", STUCK: "0.0088", DEAR: "0.1"}
"""And what they cost."""
PLACE: Final = "here"
SETTINGS: Final = {"GROWTH_QUIET": "1s"}
TOLERATED: Final[dict[str, list[dict[str, str]]]] = {
    NEEDED: [],
    VISITED: [{"key": SCALE_DOWN_TAINT, "operator": "Exists"}],
    STUCK: [{"operator": "Exists"}],
}
"""By the pods that come: where a machine is given back, only who minds nothing can."""
SHAPE: Final = {"cpu": "1500m", "memory": "1Gi"}
ROOM: Final = {"cpu": "2", "memory": "4Gi", "pods": "110"}
NOW: Final = {"gracePeriodSeconds": 0}
WITHIN: Final = 400.0
"""Seconds until a chapter of the story has come; each end of the process adds `A_LIFE` to the last
one."""


class End(NamedTuple):
    """What the story comes to."""

    machines: Counter[str]
    """Nodes by type."""
    unknown: frozenset[str]
    """Requests without a node."""
    bound: Counter[str]
    """Pods by the type of their node."""
    old: frozenset[str]
    """Pools whose first node is there still."""
    left: int
    """Marks and removals that nobody takes away any more."""


def furniture() -> Iterator[tuple[str, dict[str, Any]]]:
    """A catalogue, a pool for each node, its pod, and the nodes."""
    types = [
        {
            "name": name,
            "resources": ROOM,
            "offers": [{"location": PLACE, "price": price}],
        }
        for name, price in TYPES.items()
    ]
    faults = [{"kind": "DeleteFails", "serverType": STUCK}]
    yield CLASSES, ours("KwokNodeClass", "default", {"types": types, "faults": faults})
    for pool in (*GOING, *STAYING):
        # Nobody may be late for what is only marked, however often the process is killed.
        idle_after = "90s" if pool in {NEEDED, VISITED} else "1s"
        scale_down = {"idleAfter": idle_after, "retryAfter": "1s", "attempts": 100}
        spec = {"serverTypes": [{"name": type_of(pool), "max": 2}], "scaleDown": scale_down}
        yield POOLS, ours("NodePool", pool, spec)
    both = [{"name": DEAR, "max": 2}, {"name": "plain", "max": 2}]
    yield POOLS, ours("NodePool", DEAR, {"serverTypes": both})


def inhabited(story: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """A node for each pool, and before it the pod on it: so it is never seen without."""
    for pool in (*GOING, *STAYING, DEAR):
        wants = {POOL_LABEL: pool}
        made = pod(f"{pool}-{story}", nodeName=name_of(pool, story), nodeSelector=wants)
        if pool == DEAR:
            made["metadata"]["labels"] = {"app": DEAR}
        yield PODS, made
        yield NODES, node(pool, story)


def owner() -> dict[str, Any]:
    """Who takes the pod on the dear node for its own, and brings it back elsewhere."""
    made = pod("", nodeSelector={POOL_LABEL: DEAR})
    labels = {"app": DEAR}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": DEAR},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": made["spec"]},
        },
    }


def type_of(pool: str) -> str:
    """The type of its node."""
    return pool if pool in TYPES else "plain"


def name_of(pool: str, story: int) -> str:
    """As growth calls nodes, and another one in each telling."""
    return f"{pool}-{uuid5(NAMESPACE_URL, f'{pool} {story}')}"


def node(pool: str, story: int) -> dict[str, Any]:
    """A machine that has served for long."""
    name = name_of(pool, story)
    labels = {
        MANAGED_BY_LABEL: MANAGED_BY,
        POOL_LABEL: pool,
        INSTANCE_TYPE_LABEL: type_of(pool),
        REGION: PLACE,
        "kubernetes.io/hostname": name,
    }
    annotations = {
        FAKE_NODE_ANNOTATION: "fake",
        REQUEST_UID_ANNOTATION: f"of-{name}",
        PRICE_ANNOTATION: TYPES[type_of(pool)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {"providerID": machine_id(name)},
        "status": {"capacity": ROOM, "allocatable": ROOM},
    }


async def furnish(connection: Connection) -> None:
    """Everything that is there before the story."""
    for path, document in furniture():
        await connection.request("POST", path, body=document)


async def begin(connection: Connection, story: int) -> None:
    """The load ends, but for one pod; and then three nodes are wanted, each at its moment."""
    for path, document in inhabited(story):
        await connection.request("POST", path, body=document)
    await _until(lambda: _serve(connection), "all nodes serve")
    await connection.request("POST", REPLICA_SETS, body=owner())
    others = {"labelSelector": f"app!={DEAR}"}
    await connection.request("DELETE", PODS, query=others, body=NOW)
    async with asyncio.TaskGroup() as tasks:
        for pool in STAYING:
            tasks.create_task(_want(connection, pool, story))


async def settled(connection: Connection, *, kills: int = 0) -> None:
    """Until every node has a pod, none is too dear, and nothing comes or goes."""
    await _until(lambda: _is_settled(connection), "settled", within=WITHIN + kills * A_LIFE)


async def end(connection: Connection) -> End:
    """What there is now."""
    nodes = {each["metadata"]["name"]: each for each in await items(connection, NODES, OURS)}
    types = {name: each["metadata"]["labels"][INSTANCE_TYPE_LABEL] for name, each in nodes.items()}
    bound = (
        types.get(each["spec"].get("nodeName", ""), "nowhere")
        for each in await items(connection, PODS)
    )
    requests = {each["metadata"]["name"] for each in await items(connection, REQUESTS)}
    marks = sum(is_marked(each) for each in nodes.values())
    return End(
        machines=Counter(types.values()),
        unknown=frozenset(requests - nodes.keys()),
        bound=Counter(bound),
        old=frozenset(
            each["metadata"]["labels"][POOL_LABEL]
            for name, each in nodes.items()
            if name not in requests
        ),
        left=marks + len(await items(connection, REMOVALS)),
    )


def is_marked(found: dict[str, Any]) -> bool:
    """Whether a node bears a mark of growth."""
    taints = {taint["key"] for taint in found["spec"].get("taints", ())}
    is_dated = SCALE_DOWN_AT_ANNOTATION in found["metadata"]["annotations"]
    return is_dated or SCALE_DOWN_TAINT in taints or bool(found["spec"].get("unschedulable"))


async def _want(connection: Connection, pool: str, story: int) -> None:
    name = name_of(pool, story)
    if pool == STUCK:
        await _until(lambda: _was_asked(connection, name), f"{name} is to be deleted")
    else:
        await _until(lambda: _bears_a_mark(connection, name), f"{name} is marked")
    tolerations = TOLERATED[pool]
    selector = {POOL_LABEL: pool}
    again = pod(f"{pool}-{story}-again", nodeSelector=selector, tolerations=tolerations)
    await connection.request("POST", PODS, body=again)


async def _serve(connection: Connection) -> bool:
    nodes = await items(connection, NODES, OURS)
    return len(nodes) == len(GOING) + len(STAYING) + 1 and all(
        condition["status"] == "True"
        for each in nodes
        for condition in each["status"].get("conditions", [{"type": "Ready", "status": "Unknown"}])
        if condition["type"] == "Ready"
    )


async def _bears_a_mark(connection: Connection, name: str) -> bool:
    return any(
        each["metadata"]["name"] == name and is_marked(each)
        for each in await items(connection, NODES, OURS)
    )


async def _was_asked(connection: Connection, name: str) -> bool:
    return any(
        each["metadata"]["name"] == name and each.get("status", {}).get("removalAttempt")
        for each in await items(connection, REMOVALS)
    )


async def _is_settled(connection: Connection) -> bool:
    pods = await items(connection, PODS)
    places = {each["spec"].get("nodeName", "") for each in pods}
    nodes = {each["metadata"]["name"] for each in await items(connection, NODES, OURS)}
    now = await end(connection)
    return (
        len(pods) == len(STAYING) + 1
        and places == nodes
        and not now.machines[DEAR]
        and not now.left
        and not [each for each in await items(connection, REQUESTS) if _is_on_its_way(each)]
    )


def _is_on_its_way(request: dict[str, Any]) -> bool:
    return request.get("status", {}).get("phase", "Pending") in {"Pending", "Provisioning"}


async def _until(
    is_so: Callable[[], Awaitable[bool]], goal: str, *, within: float = WITHIN
) -> None:
    began = monotonic()
    while not await is_so():
        assert monotonic() - began < within, f"not within {within:.0f} s: {goal}"
        await asyncio.sleep(0.1)


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """One that leaves no room for another one."""
    container = {"name": "main", "image": "none", "resources": {"requests": SHAPE}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }
