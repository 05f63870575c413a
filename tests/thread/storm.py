"""What people and programs do to a cluster that growth looks after, at random, for a while.

Workloads are scaled, a node dies, a person cordons one or asks for it to stay, a budget allows
nothing, somebody makes a pod that nobody would bring back. All of it is drawn from a seed before it
begins; names of nodes are drawn by chance elsewhere, so a deed says which of those that are there.
Afterwards everything that was asked for is taken back, and all has to settle.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from enum import StrEnum
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

from growth.api.wellknown import (
    DO_NOT_DISRUPT_ANNOTATION,
    POOL_LABEL,
    SCALE_DOWN_AT_ANNOTATION,
    SCALE_DOWN_TAINT,
)
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import NotFound
from tests.live import IN_TIME
from tests.thread.growing import FORGOTTEN, deployment
from tests.thread.judging import COMING, OWNER, Deeds, is_cordoned_by_a_person, is_keeper
from tests.thread.thirty import (
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
    from collections.abc import Callable, Iterator

    from growth.kube.transport import Connection

DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
BUDGETS: Final = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
MOST: Final = 5
TYPES: Final = ("small", "middle", "large")
WORKLOADS: Final = {
    "plain": ("one", {"cpu": "1500m", "memory": "1Gi"}),
    "tolerant": ("one", {"cpu": "500m", "memory": "512Mi"}),
    "tiny": ("two", {"cpu": "300m", "memory": "256Mi"}),
    "guarded": ("two", {"cpu": "900m", "memory": "1Gi"}),
    "bulky": ("three", {"cpu": "3", "memory": "6Gi"}),
    "precious": ("three", {"cpu": "700m", "memory": "1Gi"}),
}
"""Each with its pool: with few on a node, nodes become idle often. Tolerant ones come to nodes that
are about to go, a budget guards guarded ones, and precious ones may not be moved."""
POOL_NAMES: Final = ("one", "two", "three")
MAXIMA: Final = {(pool, name): MOST for pool in POOL_NAMES for name in TYPES}
NUMBERS: Final = (0, 0, 1, 2, 4, 6)
"""What a workload may want; nothing more often than anything else."""
PAUSE: Final = 0.25
"""Seconds between two deeds, on average."""


class Kind(StrEnum):
    """What can be done."""

    SCALE = "scale"
    ADD = "add a pod without a controller"
    END = "end a pod without a controller"
    CORDON = "cordon"
    UNCORDON = "uncordon"
    KEEP = "ask for a node to stay"
    LEAVE = "ask for it no longer"
    KILL = "kill a node"
    GUARD = "let a budget allow nothing"
    RELAX = "let it allow one"


OFTEN: Final = {Kind.SCALE: 10, Kind.KILL: 1}
"""In proportion to the others."""


class Deed(NamedTuple):
    """One thing to do, so long after the one before it."""

    pause: float
    kind: Kind
    which: int
    """Of those that are there."""
    number: int


def drawn(seed: int, seconds: float) -> list[Deed]:
    """All that will be done."""
    chance, deeds, at = Random(seed), list[Deed](), 0.0
    kinds = list(Kind)
    weights = [OFTEN.get(kind, 2) for kind in kinds]
    while at < seconds:
        pause = chance.expovariate(1 / PAUSE)
        (kind,) = chance.choices(kinds, weights)
        deeds.append(Deed(pause, kind, chance.randrange(1000), chance.choice(NUMBERS)))
        at += pause
    return deeds


def furniture() -> Iterator[tuple[str, dict[str, Any]]]:
    """A cloud in which deletes fail at times, one pool, and the workloads, which want nothing."""
    sold = zip(
        TYPES, (("2", "4Gi"), ("4", "8Gi"), ("8", "16Gi")), ("0.01", "0.018", "0.04"), strict=True
    )
    types = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, (cpu, memory), price in sold
    ]
    faults = [{"kind": "DeleteFails", "serverType": name, "count": 3} for name in TYPES]
    delay = {"min": "0s", "max": "1s"}
    yield (
        CLASSES,
        ours("KwokNodeClass", "default", {"types": types, "faults": faults, "bootDelay": delay}),
    )
    scale_down = {"idleAfter": "1s", "retryAfter": "1s"}
    server_types = [{"name": name, "max": MOST} for name in TYPES]
    for pool in POOL_NAMES:
        spec = {"serverTypes": server_types, "scaleDown": scale_down, **FORGOTTEN}
        yield POOLS, ours("NodePool", pool, spec)
    for name in WORKLOADS:
        yield DEPLOYMENTS, workload(name)
    yield BUDGETS, budget("guarded")


def workload(name: str) -> dict[str, Any]:
    """One of them; it wants no pod yet."""
    pool, requests = WORKLOADS[name]
    made = deployment(name, pool=pool, replicas=0, **requests)
    template = made["spec"]["template"]
    if name == "tolerant":
        template["spec"]["tolerations"] = [{"key": SCALE_DOWN_TAINT, "operator": "Exists"}]
    if name == "precious":
        template["metadata"]["annotations"] = {DO_NOT_DISRUPT_ANNOTATION: "true"}
    return made


def budget(name: str) -> dict[str, Any]:
    """One at a time, until the storm says otherwise."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {OWNER: name}}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": spec,
    }


class Storm:
    """Who does it, and writes down what ends by it."""

    def __init__(self, connection: Connection) -> None:
        self.deeds = Deeds()
        self.done: Counter[Kind] = Counter()
        """How often; what finds nobody to be done to isn't counted."""
        self._connection = connection
        self._wanted = dict.fromkeys(WORKLOADS, 0)
        self._made = 0

    async def furnish(self) -> None:
        """Everything that is there before it begins."""
        for path, document in furniture():
            await self._connection.request("POST", path, body=document)

    async def rage(self, deeds: list[Deed]) -> None:
        """One deed after the other."""
        for deed in deeds:
            await asyncio.sleep(deed.pause)
            with suppress(NotFound):
                self.done[deed.kind] += await self._do(deed)

    async def end(self) -> None:
        """Everything that was asked for is taken back, and each workload wants two pods."""
        await self._patch(f"{BUDGETS}/guarded", {"spec": {"maxUnavailable": 1}})
        for node in await self._nodes():
            if is_cordoned_by_a_person(node):
                await self._uncordon(node)
            await self._say(node, None)
        while pod := await self._bare(0):
            await self._end_pod(pod)
        for name in WORKLOADS:
            await self._scale(name, 2)

    async def settled(self) -> None:
        """Until every pod has a node, every node has a pod, and nothing comes or goes."""
        began = monotonic()
        while why := await self._unsettled():
            assert monotonic() - began < IN_TIME, f"not settled: {why}"
            await asyncio.sleep(0.3)

    async def _do(self, deed: Deed) -> bool:
        match deed.kind:
            case Kind.SCALE:
                await self._scale(list(WORKLOADS)[deed.which % len(WORKLOADS)], deed.number)
                return True
            case Kind.ADD:
                return await self._add()
            case Kind.END:
                pod = await self._bare(deed.which)
                return pod is not None and await self._end_pod(pod)
            case Kind.GUARD | Kind.RELAX:
                allowed = 0 if deed.kind is Kind.GUARD else 1
                await self._patch(f"{BUDGETS}/guarded", {"spec": {"maxUnavailable": allowed}})
                return True
            case _:
                return await self._do_to_a_node(deed)

    async def _do_to_a_node(self, deed: Deed) -> bool:
        suits = SUITABLE.get(deed.kind, bool)
        nodes = [node for node in await self._nodes() if suits(node)]
        if not nodes:
            return False
        node = nodes[deed.which % len(nodes)]
        match deed.kind:
            case Kind.CORDON:
                await self._patch(path_of(node), {"spec": {"unschedulable": True}})
            case Kind.UNCORDON:
                await self._uncordon(node)
            case Kind.KEEP:
                await self._say(node, "true")
            case Kind.LEAVE:
                await self._say(node, None)
            case Kind.KILL:
                await self._kill(node)
            case Kind.SCALE | Kind.ADD | Kind.END | Kind.GUARD | Kind.RELAX:
                raise AssertionError(deed.kind)
            case _:
                assert_never(deed.kind)
        return True

    async def _scale(self, name: str, wanted: int) -> None:
        self.deeds.fewer[name] += max(0, self._wanted[name] - wanted)
        self._wanted[name] = wanted
        await self._patch(f"{DEPLOYMENTS}/{name}", {"spec": {"replicas": wanted}})

    async def _add(self) -> bool:
        self._made += 1
        container = {
            "name": "main",
            "image": "none",
            "resources": {"requests": {"cpu": "400m", "memory": "256Mi"}},
        }
        spec = {"containers": [container], "nodeSelector": {POOL_LABEL: POOL_NAMES[0]}}
        metadata = {"name": f"bare-{self._made}", "namespace": "default"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        await self._connection.request("POST", PODS, body=pod)
        return True

    async def _bare(self, which: int) -> dict[str, Any] | None:
        pods = await items(self._connection, PODS)
        bare = [pod for pod in pods if not pod["metadata"].get("ownerReferences")]
        return bare[which % len(bare)] if bare else None

    async def _end_pod(self, pod: dict[str, Any]) -> bool:
        self.deeds.ended.add(pod["metadata"]["uid"])
        place = f"{PODS}/{pod['metadata']['name']}"
        await self._connection.request("DELETE", place, body={"gracePeriodSeconds": 0})
        return True

    async def _uncordon(self, node: dict[str, Any]) -> None:
        self.deeds.uncordoned.add(node["metadata"]["name"])
        await self._patch(path_of(node), {"spec": {"unschedulable": None}})

    async def _say(self, node: dict[str, Any], value: str | None) -> None:
        with suppress(NotFound):
            body = {"metadata": {"annotations": {DO_NOT_DISRUPT_ANNOTATION: value}}}
            await self._patch(path_of(node), body)

    async def _kill(self, node: dict[str, Any]) -> None:
        self.deeds.killed.add(node["metadata"]["name"])
        await self._connection.request("DELETE", path_of(node))
        await self._bury()

    async def _bury(self) -> None:
        """The pods of nodes that were killed end now; their collector would take its time."""
        for pod in await items(self._connection, PODS):
            if pod["spec"].get("nodeName") in self.deeds.killed:
                with suppress(NotFound):
                    await self._end_pod(pod)

    async def _nodes(self) -> list[dict[str, Any]]:
        found = await items(self._connection, NODES, OURS)
        return sorted(found, key=lambda node: str(node["metadata"]["creationTimestamp"]))

    async def _patch(self, path: str, body: dict[str, Any]) -> None:
        await self._connection.request("PATCH", path, body=body, content_type=MERGE_PATCH)

    async def _unsettled(self) -> str:
        """What is still to be done; a removal that has failed is tried again, as a person would."""
        await self._bury()
        for removal in await items(self._connection, REMOVALS):
            name = removal["metadata"]["name"]
            if removal.get("status", {}).get("phase") == "RemovalFailed":
                with suppress(NotFound):
                    await self._connection.request("DELETE", f"{REMOVALS}/{name}", body={})
            return f"{name} is being given back"
        for request in await items(self._connection, REQUESTS):
            if request.get("status", {}).get("phase", "Pending") in COMING:
                return f"{request['metadata']['name']} is on its way"
        return await self._out_of_place()

    async def _out_of_place(self) -> str:
        pods = [pod for pod in await items(self._connection, PODS) if is_keeper(pod)]
        places = {pod["spec"].get("nodeName", "") for pod in pods}
        for node in await self._nodes():
            name, annotations = node["metadata"]["name"], node["metadata"]["annotations"]
            if name not in places:
                return f"{name} is empty"
            if SCALE_DOWN_AT_ANNOTATION in annotations or node["spec"].get("unschedulable"):
                return f"{name} bears a mark"
        if len(pods) != sum(self._wanted.values()):
            return f"there are {len(pods)} pods"
        return "a pod has no node" if "" in places else ""


SUITABLE: Final[dict[Kind, Callable[[dict[str, Any]], bool]]] = {
    Kind.UNCORDON: is_cordoned_by_a_person,
    Kind.CORDON: lambda node: not node["spec"].get("unschedulable"),
}
"""Which nodes a deed can be done to; others can be done to any."""


def path_of(node: dict[str, Any]) -> str:
    """Where it is kept."""
    return f"{NODES}/{node['metadata']['name']}"
