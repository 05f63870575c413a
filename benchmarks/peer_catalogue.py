"""One price list for several autoscalers: in growth's form, in those of others, and as prices.

The pods of the benchmark choose among offers by the labels that are common to all forms. Offers
bear `karpenter.sh/capacity-type`, because Karpenter sells by no other label for spot.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from benchmarks.manifests import amounts, class_and_pool
from benchmarks.workloads import catalogue
from growth.errors import GiveUp
from reconciler.providers.kwok.machines import FAKE_NODE_ANNOTATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reconciler.solver.model.problem import Offer

Document = dict[str, Any]

TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
ARCH: Final = "kubernetes.io/arch"
CAPACITY: Final = "karpenter.sh/capacity-type"
TERMS: Final = "example.com/terms"
ON_DEMAND: Final = "on-demand"
_CAPACITIES: Final = {"demand": ON_DEMAND, "spot": "spot"}
_MONEY: Final = 1_000_000
_OVERHEAD: Final = {"cpu": 100, "memory": 10}
"""What Karpenter's kwok provider deducts from each node, in the units of an offer."""


class PeerCatalogue:
    """A price list, as it was drawn from a seed."""

    def __init__(self, prices: str, *, seed: int) -> None:
        self.prices, self.seed = prices, seed
        self.offers = catalogue(prices, seed)

    def growths(self) -> list[Document]:
        """The node class and the pool for growth."""
        node_class, pool = class_and_pool(self.prices, seed=self.seed)
        for each in node_class["spec"]["types"]:
            for offer in each["offers"]:
                offer["labels"] = {
                    CAPACITY: _CAPACITIES[offer["labels"].pop(TERMS, "demand")],
                    **offer["labels"],
                }
        return [node_class, pool]

    def price(self, node: Mapping[str, Any]) -> float | None:
        """The price of an hour of a node, by its labels; None for a node that wasn't bought."""
        labels = node["metadata"].get("labels", {})
        if TYPE not in labels:
            return None
        try:
            return self._by_labels[labels[TYPE], labels[ZONE], labels.get(CAPACITY, ON_DEMAND)]
        except KeyError:
            raise GiveUp(
                f"node {node['metadata']['name']}: the price list has no {labels[TYPE]} in"
                f" {labels.get(ZONE)}, {labels.get(CAPACITY, ON_DEMAND)}"
            ) from None

    @property
    def _by_labels(self) -> Mapping[tuple[str, str, str], float]:
        return {
            (each.type, each.location, capacity_of(each)): each.price / _MONEY
            for each in self.offers
        }

    def write(self, folder: Path) -> None:
        """Write all forms into a folder."""
        forms = {
            "catalogue.json": list(self._plain()),
            "karpenter-instance-types.json": list(self._karpenters()),
            "cluster-autoscaler-templates.json": {
                "apiVersion": "v1",
                "kind": "List",
                "items": [self.node(each) for each in self.offers],
            },
        }
        for name, document in forms.items():
            (folder / name).write_text(json.dumps(document, indent=1), "utf-8")

    def _plain(self) -> Iterator[Document]:
        for each in self.offers:
            price = each.price / _MONEY
            yield {"name": each.name, "pricePerHour": price, "node": self.node(each)}

    def _karpenters(self) -> Iterator[Document]:
        """The list that `--instance-types-file-path` of its kwok provider reads."""
        types: dict[str, list[Offer]] = {}
        for each in self.offers:
            types.setdefault(each.type, []).append(each)
        for name, offers in types.items():
            yield {
                "name": name,
                "architecture": offers[0].labels["arch"],
                "operatingSystems": ["linux"],
                "resources": amounts(_with_overhead(offers[0].capacity)),
                "offerings": [_karpenters_offering(each) for each in offers],
            }

    def node(self, offer: Offer, *, name: str = "") -> Document:
        """The Node of an offer, as a template or with a name."""
        found = amounts(offer.capacity)
        metadata = {
            "name": name or offer.name.replace("/", "-"),
            "labels": {
                TYPE: offer.type,
                ZONE: offer.location,
                ARCH: offer.labels["arch"],
                "kubernetes.io/os": "linux",
                CAPACITY: capacity_of(offer),
                "kwok-nodegroup": offer.name.replace("/", "-"),
            },
            "annotations": {FAKE_NODE_ANNOTATION: "fake"},
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": metadata,
            "status": {"capacity": found, "allocatable": found},
        }


def capacity_of(offer: Offer) -> str:
    """Spot or on demand; price lists without such terms sell on demand."""
    return _CAPACITIES[offer.labels.get("terms", "demand")]


def _with_overhead(capacity: Sequence[int]) -> list[int]:
    cpu, memory, *others = capacity
    return [cpu + _OVERHEAD["cpu"], memory + _OVERHEAD["memory"], *others]


def _karpenters_offering(offer: Offer) -> Document:
    labels = {ZONE: offer.location, CAPACITY: capacity_of(offer)}
    return {
        "Price": offer.price / _MONEY,
        "Available": True,
        "Requirements": [
            {"key": key, "operator": "In", "values": [value]} for key, value in labels.items()
        ],
    }
