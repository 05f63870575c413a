"""The pools and the catalogue of all simulated clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.disruption import Consolidation, Disruption
from growth.api.kwoknodeclass import BootDelay, KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.written import Duration

if TYPE_CHECKING:
    from reconciler.simulation.chance import Chance

TYPES: Final = (
    ("small", "2", "4Gi", {"here": "0.010", "there": "0.012"}),
    ("medium", "4", "8Gi", {"here": "0.018", "there": "0.019"}),
    ("large", "8", "16Gi", {"here": "0.034"}),
    ("wide", "4", "32Gi", {"there": "0.040"}),
)
PLENTY: Final = 80
"""A maximum that no seed reaches."""
AT_ONCE: Final = BootDelay()


def boot_delay(chance: Chance) -> BootDelay:
    """How long machines take to boot in one run."""
    least, most = chance.between(0.5, 10.0), chance.between(10.0, 60.0)
    return BootDelay(min=Duration(int(least * 1e9)), max=Duration(int(most * 1e9)))


def node_class(boots: BootDelay = AT_ONCE) -> KwokNodeClass:
    """A node class with four types in two locations."""
    types = [
        {
            "name": name,
            "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
            "offers": [{"location": place, "price": price} for place, price in offers.items()],
        }
        for name, cpu, memory, offers in TYPES
    ]
    spec = {"types": types, "bootDelay": boots}
    document = {"metadata": {"name": "default"}, "spec": spec}
    return KwokNodeClass.model_validate(document)


def pools(
    chance: Chance, consolidation: Consolidation = Consolidation.WHEN_CHEAPER
) -> tuple[NodePool, ...]:
    """The default pool, and one that pods select by name, with a low maximum for one type."""
    everything = [{"name": name, "max": PLENTY} for name, *_ in TYPES]
    narrow = [
        {"name": "medium", "max": chance.whole(1, 4)},
        {"name": "large", "max": PLENTY},
        {"name": "wide", "max": PLENTY},
    ]
    disruption = Disruption(consolidation=consolidation)
    return _pool("default", everything, disruption), _pool("batch", narrow, disruption)


def _pool(name: str, types: list[dict[str, Any]], disruption: Disruption) -> NodePool:
    spec = {"serverTypes": types, "disruption": disruption}
    document = {"metadata": {"name": name}, "spec": spec}
    return NodePool.model_validate(document)
