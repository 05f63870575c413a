"""A simulated cluster with deployments that grow and shrink, in which the whole loop lives."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import Namespace, Pod
from reconciler.simulation.cloud import SimulatedJoining
from reconciler.simulation.living import Living
from reconciler.simulation.replicas import SimulatedWorkload
from reconciler.simulation.story import Story

if TYPE_CHECKING:
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.scheduling.node import Node
    from reconciler.core.actions import Evict
    from reconciler.effects.eviction import EvictionRefusal
    from reconciler.simulation.process import Parts
    from reconciler.simulation.server import StoredChange

CALM = Story(seed=1, minutes=240.0, faults=(), workloads=0)
EVERYTHING = [{"nodes": "100%"}]
TYPES = {
    "small": ("2", "4Gi", "0.010"),
    "medium": ("4", "8Gi", "0.019"),
    "large": ("8", "16Gi", "0.036"),
}


def catalogue(types: dict[str, tuple[str, str, str]]) -> KwokNodeClass:
    sold = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
            "offers": [{"location": "here", "price": price}],
        }
        for name, (cpu, memory, price) in types.items()
    ]
    spec = {"types": sold, "bootDelay": {"min": "2s", "max": "2s"}}
    return KwokNodeClass.model_validate({"metadata": {"name": "default"}, "spec": spec})


class Town:
    """One pool, and all that became of it."""

    def __init__(
        self,
        *,
        types: dict[str, tuple[str, str, str]] = TYPES,
        parts: Parts | None = None,
        **pool: Any,
    ) -> None:
        self.living = Living(CALM, SimulatedJoining.AT_ONCE, parts=parts)
        self.server = self.living.server
        self.owners: dict[str, SimulatedWorkload] = {}
        self.opened: list[NodeRemovalRequest] = []
        self.prices = {name: float(price) for name, (_, _, price) in types.items()}
        entries = [{"name": name, "max": 400} for name in types]
        spec = {"serverTypes": entries, "disruption": {"budgets": EVERYTHING}} | pool
        self.server.create("KwokNodeClass", catalogue(types))
        document = {"metadata": {"name": "default"}, "spec": spec}
        self.server.create("NodePool", NodePool.model_validate(document))
        self.server.create("namespaces", Namespace(Metadata(name="default")))
        self.server.kind("NodeRemovalRequest").heard_by.append(self._heard)
        self._evicted: list[Evict] = []
        self._evict, self.server.evict = self.server.evict, self._asked
        self.living.lives.begin()

    def wants(self, name: str, number: int, *, cpu: str = "500m", **spec: Any) -> None:
        """From now on so many pods of a deployment."""
        if name not in self.owners:
            self.owners[name] = _owner(name, cpu, spec)
        self.living.replicas.want(self.owners[name], number)

    def passes(self, seconds: float) -> None:
        self.living.timeline.run(self.living.timeline.now + seconds)
        assert self.living.auditor.found is None, self.living.auditor.found

    @property
    def nodes(self) -> list[Node]:
        return list(self.server.kind("nodes").objects.values())

    @property
    def types(self) -> Counter[str]:
        return Counter(each.labels["growth.dev/instance-type"] for each in self.nodes)

    @property
    def cost(self) -> float:
        return sum(self.prices[name] * number for name, number in self.types.items())

    @property
    def pods(self) -> list[Pod]:
        return list(self.server.kind("pods").objects.values())

    @property
    def evicted(self) -> int:
        """How many pods were moved so far."""
        return len(self._evicted)

    @property
    def seen(self) -> object:
        """Who runs where, and on which removals that came about."""
        places = sorted((each.metadata.uid, each.spec.node_name) for each in self.pods)
        return sorted(node.name for node in self.nodes), places, len(self.opened)

    @property
    def waiting(self) -> list[str]:
        return [each.name for each in self.pods if not each.spec.node_name]

    @property
    def reasons(self) -> Counter[str]:
        """Why removals were opened."""
        return Counter(each.spec.reason.value for each in self.opened)

    def _asked(self, asked: Evict) -> EvictionRefusal | None:
        refusal = self._evict(asked)
        if refusal is None:
            self._evicted.append(asked)
        return refusal

    def _heard(self, event: StoredChange) -> None:
        if event.old is None:
            self.opened.append(event.new)


def _owner(name: str, cpu: str, spec: dict[str, Any]) -> SimulatedWorkload:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}
    document = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [container], **spec},
        "status": {"phase": "Pending"},
    }
    template = msgspec.convert(document, Pod)
    return SimulatedWorkload(
        name=name, uid=f"owner-{name}", namespace="default", template=template, pods={}
    )
