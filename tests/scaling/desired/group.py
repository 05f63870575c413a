"""A pool of the policy Desired in the simulated world, with what its nodes are measured to use."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from typing_extensions import override

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.wellknown import POOL_LABEL
from growth.kube.cache.resource import Key
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler.core.actions import EmitEvent
from reconciler.core.measured import READ_EVERY, Measurements
from reconciler.facts.ownership import pool_of_node
from reconciler.seeing.measured import longest_window, not_read, with_reading
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.effects import SimulatedEffects
from reconciler.simulation.living import Living
from reconciler.simulation.process import Parts
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.server import START
from reconciler.simulation.story import Story

if TYPE_CHECKING:
    from growth.api.scaling_status import ScalingStatus
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.simulation.effects import Result

NAME = "web"
CALM = Story(seed=1, minutes=120.0, faults=(), workloads=0)
MINUTE = 60.0


class Measured:
    """metrics.k8s.io as a test plays it: what each node uses, in percent."""

    def __init__(self) -> None:
        self.percent: dict[str, Any] = {}
        self.usual: Any = 80
        """Of nodes that aren't named; None: no figures."""
        self.lag = 0.0
        """Seconds by which the figures are old."""
        self.fails = False
        self.known = Measurements()

    def __call__(self) -> Measurements:
        return self.known

    def read(self, nodes: dict[str, Node], pools: list[NodePool], now: float) -> None:
        """As the reader reads every 15 seconds."""
        if self.fails:
            self.known = not_read(self.known, "metrics.k8s.io can't be read: refused")
            return
        wall = START + timedelta(seconds=now)
        items = [
            item
            for name in nodes
            if (item := self._item(name, nodes[name], wall - timedelta(seconds=self.lag)))
        ]
        self.known = with_reading(
            self.known, items, nodes, now=wall.timestamp(), window=longest_window(pools)
        )

    def _item(self, name: str, node: Node, at: Any) -> bytes:
        percent = self.percent.get(name, self.usual)
        if percent is None:
            return b""
        room = node.allocatable
        used = (
            percent
            if isinstance(percent, dict)
            else {
                "cpu": f"{room['cpu'] * percent // 100}m",
                "memory": str(room["memory"] * percent // 100),
            }
        )
        stamp = at.isoformat().replace("+00:00", "Z")
        return json.dumps({"metadata": {"name": name}, "timestamp": stamp, "usage": used}).encode()


class GroupTold:
    """One pool, its pods, and time."""

    def __init__(
        self, *, nodes: int = 0, types: Any = None, kill: str = "", story: Any = None, **fields: Any
    ) -> None:
        self.measured = Measured()
        played = msgspec.structs.replace(CALM, kill=kill, **(story or {}))
        self.events: list[str] = []
        """The reasons of all events."""
        parts = Parts(measured=self.measured, effects=_telling(self.events))
        self.living = Living(played, SimulatedJoining.AT_ONCE, parts=parts)
        self.server = self.living.server
        self.server.create("KwokNodeClass", _node_class())
        scaling = {"policy": "Desired", "desired": {"desiredNodes": nodes} | fields}
        spec = {
            "serverTypes": types or [{"name": "small", "max": 20}, {"name": "large", "max": 20}],
            "scaling": scaling,
            "scaleDown": {"idleAfter": "10s"},
        }
        self.server.create(
            "NodePool", NodePool.model_validate({"metadata": {"name": NAME}, "spec": spec})
        )
        self.server.create("namespaces", Namespace(Metadata(name="shop")))
        self.living.lives.begin()
        self.now = 0.0
        self._owners: dict[str, SimulatedWorkload] = {}

    def wants(self, number: int, *, name: str = "app", cpu: str = "1900m", **spec: Any) -> None:
        """So many pods in all, two on a small machine."""
        document = {
            "metadata": {"labels": {"app": name}},
            "spec": {
                "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
                "nodeSelector": {POOL_LABEL: NAME},
            }
            | spec,
            "status": {"phase": "Pending"},
        }
        if name not in self._owners:
            self._owners[name] = SimulatedWorkload(
                name=name,
                uid=f"uid-{name}",
                namespace="shop",
                template=msgspec.convert(document, Pod),
                pods={},
            )
        self.living.replicas.want(self._owners[name], number)

    def scaled(self, **fields: Any) -> None:
        """A person changes fields of spec.scaling.desired, as kubectl scale does."""

        def changed(found: NodePool) -> NodePool:
            desired = found.spec.scaling.desired
            assert desired is not None
            document = desired.document() | fields
            scaling = found.spec.scaling.model_copy(
                update={"desired": type(desired).model_validate(document)}
            )
            spec = found.spec.model_copy(update={"scaling": scaling})
            return found.model_copy(update={"spec": spec})

        self.server.change("NodePool", Key("", NAME), changed)

    def follows(self, policy: str, **fields: Any) -> None:
        """A person changes the policy of the pool."""
        scaling = {"policy": policy} | ({"desired": fields} if policy == "Desired" else {})

        def changed(found: NodePool) -> NodePool:
            kept = type(found.spec.scaling).model_validate(scaling)
            spec = found.spec.model_copy(update={"scaling": kept})
            return found.model_copy(update={"spec": spec})

        self.server.change("NodePool", Key("", NAME), changed)
        self.passes(MINUTE / 4)

    def passes(self, seconds: float) -> None:
        """So much time; use is measured every 15 seconds."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + READ_EVERY, end)
            self.living.timeline.run(self.now)
            nodes = {node.name: node for node in self.server.kind("nodes").objects.values()}
            self.measured.read(nodes, [self.pool], self.now)
        assert self.living.auditor.found is None, self.living.auditor.found

    @property
    def pool(self) -> NodePool:
        found: NodePool = self.server.kind("NodePool").objects[Key("", NAME)]
        return found

    @property
    def status(self) -> ScalingStatus:
        found = self.pool.status.scaling
        assert found is not None
        return found

    @property
    def nodes(self) -> list[str]:
        """The names of the pool's nodes, the oldest first."""
        found = self.server.kind("nodes").objects.values()
        ours = [node for node in found if pool_of_node(node) == NAME]
        ours.sort(key=lambda node: (node.metadata.creation_timestamp or "", node.name))
        return [node.name for node in ours]

    @property
    def types(self) -> list[str]:
        found = self.server.kind("nodes").objects.values()
        return sorted(n.labels["growth.dev/instance-type"] for n in found if pool_of_node(n))

    def node(self, name: str) -> Node:
        found: Node = self.server.kind("nodes").objects[Key("", name)]
        return found

    def pending(self) -> int:
        pods = self.server.kind("pods").objects.values()
        return sum(not pod.spec.node_name for pod in pods)

    def holds(self) -> set[str]:
        return {each.reason for each in self.status.holds}


def _telling(events: list[str]) -> type[SimulatedEffects]:
    class Telling(SimulatedEffects):
        @override
        def _remember(self, action: Action, result: Result) -> None:
            if isinstance(action, EmitEvent):
                events.append(action.event.reason)
            super()._remember(action, result)

    return Telling


def _node_class() -> KwokNodeClass:
    types = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, cpu, price in (("small", "4", "1"), ("large", "8", "3"))
    ]
    document = {"metadata": {"name": "default"}, "spec": {"types": types}}
    return KwokNodeClass.model_validate(document)
