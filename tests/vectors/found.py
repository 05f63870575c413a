"""What a plan of a row's pods came to, in the words of the rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from growth.scheduling.resources import CPU

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.objects import Node, Pod
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.providers.port import Offering
    from tests.vectors.rows import Json

REGION = "topology.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
UNSAID = "unsaid"
"""The label of a zone that a row leaves out."""


class Place(NamedTuple):
    """Where a machine is."""

    region: str
    zone: str | None
    """None for a zone that isn't said."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a plan came to."""

    memory: PlanningLedger
    """What planning remembers of it."""
    pods: Sequence[Pod]
    requests: Sequence[NodeRequest]
    machines: Mapping[str, str]
    """The machine of each pod, by the pod's name."""
    nodes: Mapping[str, Node]
    offers: Sequence[Offering]
    without_pool: Sequence[str]

    @property
    def unmet(self) -> list[str]:
        """Pods without a machine."""
        return sorted(
            pod.metadata.name for pod in self.pods if pod.metadata.name not in self.machines
        )

    @property
    def result(self) -> str:
        """In the seed's words."""
        if not self.pods:
            return "NoDemands"
        return "IncompletePlacement" if self.unmet else "AllPlaced"

    @property
    def placed(self) -> dict[str, str]:
        """The type that each pod is to run on."""
        types = {each.name: each.spec.server_type.canonical for each in self.requests}
        return {name: types.get(machine, machine) for name, machine in self.machines.items()}

    @property
    def places(self) -> list[Place]:
        """Where the machines are that are bought."""
        return [self._place(each) for each in self.requests]

    @property
    def places_with_pods(self) -> dict[str, Place]:
        """Where each pod is."""
        bought = {each.name: self._place(each) for each in self.requests}
        there = {name: place_of(node.labels) for name, node in self.nodes.items()}
        return {pod: (bought | there)[name] for pod, name in self.machines.items()}

    @property
    def bought_for(self) -> list[Json]:
        """The type of each machine that is bought, and the pods that it is for."""
        return [
            {
                "type": each.spec.server_type.canonical,
                "pods": sorted(pod for pod, name in self.machines.items() if name == each.name),
            }
            for each in self.requests
        ]

    def overcommits(self, resource: str) -> bool:
        """Whether pods on some machine ask for more than it has."""
        rooms = {each.name: self._offer(each).allocatable[resource] for each in self.requests}
        rooms |= {name: node.allocatable[resource] for name, node in self.nodes.items()}
        asked = Counter[str]()
        for pod in self.pods:
            if pod.metadata.name in self.machines:
                asked[self.machines[pod.metadata.name]] += pod.requests[resource]
        return any(amount > rooms[name] for name, amount in asked.items())

    @property
    def cpu_utilisation(self) -> float:
        """The share of what is bought that pods ask for."""
        bought = sum(self._offer(each).allocatable[CPU] for each in self.requests)
        names = {each.name for each in self.requests}
        used = sum(
            pod.requests[CPU] for pod in self.pods if self.machines.get(pod.metadata.name) in names
        )
        return used / bought if bought else 0.0

    def _offer(self, bought: NodeRequest) -> Offering:
        spec = bought.spec
        return next(
            each
            for each in self.offers
            if (each.server_type, each.location) == (spec.server_type, spec.location)
            and dict(each.own_labels) == dict(spec.labels)
        )

    def _place(self, bought: NodeRequest) -> Place:
        return place_of(self._offer(bought).labels)


def place_of(labels: Mapping[str, str]) -> Place:
    """Where a machine with these labels is."""
    zone = labels.get(ZONE, "")
    return Place(labels.get(REGION, ""), None if zone == UNSAID else zone)
