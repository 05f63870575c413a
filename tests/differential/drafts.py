"""A case in the making: constraints change it one after the other, then it is closed.

A draft is the only thing here that changes in place; strategies get it, add to it and give nothing
back, so that any of them may follow any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential import manifests
from tests.differential.cases import SEAT, Case, Isolation

if TYPE_CHECKING:
    from tests.differential.cases import Manifest

ZONES, RACKS = ("za", "zb", "zc"), ("r1", "r2")
LABELS = {"app": ("web", "db"), "tier": ("1", "2"), "version": ("v1", "v2")}
ONE_NODE_IN_PLACE = (1, 1, 2, 2, 3, 4)


class Draft:
    """Nodes, the pods on them, other objects, and the pod that will be offered."""

    def __init__(
        self,
        *,
        nodes: list[Manifest],
        existing: list[Manifest],
        pod: Manifest,
        open_: list[Manifest],
    ) -> None:
        self.nodes = nodes
        self.existing = existing
        self.pod = pod
        self.open_nodes = open_
        """Those that have a seat: only they can take the pod."""
        self.extras: list[Manifest] = []

    def on(self, node: Manifest) -> list[Manifest]:
        """The pods that stand on a node."""
        return [pod for pod in self.existing if pod["spec"]["nodeName"] == name_of(node)]

    def add_node(self, draw: st.DrawFn) -> None:
        """One more node, without a seat: it only counts."""
        self.nodes.append(_node(draw, len(self.nodes)))

    def add_existing(self, pod: Manifest, node: Manifest) -> None:
        there = manifests.placed(pod, name_of(node))
        there["metadata"]["name"] = f"e{len(self.existing)}-~"
        self.existing.append(there)

    def closed(self, constraints: tuple[str, ...], isolation: Isolation) -> Case:
        if isolation is Isolation.SEATS:
            self._take_seat()
        objects = (*self.extras, *self.nodes, *self.existing)
        return Case(constraints=constraints, objects=objects, pod=self.pod, isolation=isolation)

    def _take_seat(self) -> None:
        for node in self.open_nodes:
            for side in ("allocatable", "capacity"):
                node["status"][side][SEAT] = "1"
        resources = self.pod["spec"]["containers"][0]["resources"]
        for side in ("requests", "limits"):
            resources.setdefault(side, {})[SEAT] = "1"


def name_of(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def labels(draw: st.DrawFn) -> dict[str, str]:
    """Labels of a pod, from so few values that selectors often meet them."""
    return {
        key: draw(st.sampled_from(values)) for key, values in LABELS.items() if draw(st.booleans())
    }


def one_in(draw: st.DrawFn, chances: int) -> bool:
    return draw(st.integers(1, chances)) == 1


@st.composite
def drafts(draw: st.DrawFn, isolation: Isolation) -> Draft:
    """A few nodes, a few small pods on them, a pod that fits nearly anywhere."""
    count = draw(st.sampled_from(ONE_NODE_IN_PLACE))
    nodes = [
        manifests.node(index, zone=draw(st.sampled_from(ZONES)), rack=draw(st.sampled_from(RACKS)))
        for index in range(count)
    ]
    everywhere = isolation is Isolation.ALONE or one_in(draw, 4)
    pod = manifests.pod("offered-~", namespace=manifests.NAMESPACES[0], labels=labels(draw))
    draft = Draft(
        nodes=nodes,
        existing=[],
        pod=pod,
        open_=list(nodes) if everywhere else [draw(st.sampled_from(nodes))],
    )
    for _ in range(draw(st.integers(0, 3))):
        draft.add_existing(existing_pod(draw), draw(st.sampled_from(nodes)))
    return draft


def _node(draw: st.DrawFn, index: int) -> Manifest:
    zone, rack = draw(st.sampled_from(ZONES)), draw(st.sampled_from(RACKS))
    return manifests.node(index, zone=zone, rack=rack)


def existing_pod(draw: st.DrawFn) -> Manifest:
    """A pod for a node, mostly of the offered pod's namespace; its name comes with its place."""
    namespaces = (manifests.NAMESPACES[0], *manifests.NAMESPACES)
    return manifests.pod("", namespace=draw(st.sampled_from(namespaces)), labels=labels(draw))
