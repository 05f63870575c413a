"""The pools and the catalogue of every simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool

if TYPE_CHECKING:
    from reconciler.simulation.chance import Chance

TYPES: Final = (
    ("small", "2", "4Gi", {"here": "0.010", "there": "0.012"}),
    ("medium", "4", "8Gi", {"here": "0.018", "there": "0.019"}),
    ("large", "8", "16Gi", {"here": "0.034"}),
    ("wide", "4", "32Gi", {"there": "0.040"}),
)
PLENTY: Final = 80
"""No seed wants so many of one type."""


def node_class() -> KwokNodeClass:
    """Four types in two places."""
    types = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
            "offers": [{"location": place, "price": price} for place, price in offers.items()],
        }
        for name, cpu, memory, offers in TYPES
    ]
    document = {"metadata": {"name": "default"}, "spec": {"types": types}}
    return KwokNodeClass.model_validate(document)


def pools(chance: Chance) -> tuple[NodePool, ...]:
    """The pool for everyone, and one that is asked for by name and narrow in one type."""
    everything = [{"name": name, "max": PLENTY} for name, *_ in TYPES]
    narrow = [
        {"name": "medium", "max": chance.whole(1, 4)},
        {"name": "large", "max": PLENTY},
        {"name": "wide", "max": PLENTY},
    ]
    return _pool("default", everything), _pool("batch", narrow)


def _pool(name: str, types: list[dict[str, Any]]) -> NodePool:
    document = {"metadata": {"name": name}, "spec": {"serverTypes": types}}
    return NodePool.model_validate(document)
