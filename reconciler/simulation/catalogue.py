"""The pools and the catalogue of all simulated clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.disruption import Consolidation, Disruption
from growth.api.kwoknodeclass import BootDelay, KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.wellknown import DEFAULT_NODE_CLASS
from growth.api.written import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reconciler.simulation.chance import Chance

    Types = Iterable[tuple[str, str, str, Mapping[str, str]]]

TYPES: Final = (
    ("small", "2", "4Gi", {"here": "0.010", "there": "0.012"}),
    ("medium", "4", "8Gi", {"here": "0.018", "there": "0.019"}),
    ("large", "8", "16Gi", {"here": "0.034"}),
    ("wide", "4", "32Gi", {"there": "0.040"}),
)
OTHER_TYPES: Final = (
    ("medium", "4", "8Gi", {"here": "0.021", "yonder": "0.017"}),
    ("large", "8", "16Gi", {"yonder": "0.036"}),
    ("wide", "4", "32Gi", {"here": "0.044", "there": "0.039"}),
)
"""What the second node class sells: partly the same names, at other prices and in other places."""
SECOND: Final = "second"
"""The name of the second node class."""
PLENTY: Final = 80
"""A maximum that no seed reaches."""
AT_ONCE: Final = BootDelay()


def boot_delay(chance: Chance) -> BootDelay:
    """How long machines take to boot in one run."""
    least, most = chance.between(0.5, 10.0), chance.between(10.0, 60.0)
    return BootDelay(min=Duration(int(least * 1e9)), max=Duration(int(most * 1e9)))


def node_class(boots: BootDelay = AT_ONCE) -> KwokNodeClass:
    """A node class with four types in two locations."""
    return _node_class(DEFAULT_NODE_CLASS, TYPES, boots)


def second_class(boots: BootDelay) -> KwokNodeClass:
    """Another node class."""
    return _node_class(SECOND, OTHER_TYPES, boots)


def _node_class(name: str, sold: Types, boots: BootDelay) -> KwokNodeClass:
    types = [
        {
            "name": server_type,
            "resources": {"cpu": cpu, "memory": memory, "pods": "110"},
            "offers": [{"location": place, "price": price} for place, price in offers.items()],
        }
        for server_type, cpu, memory, offers in sold
    ]
    spec = {"types": types, "bootDelay": boots}
    document = {"metadata": {"name": name}, "spec": spec}
    return KwokNodeClass.model_validate(document)


def pools(
    chance: Chance,
    consolidation: Consolidation = Consolidation.WHEN_CHEAPER,
    *,
    of_batch: str = DEFAULT_NODE_CLASS,
) -> tuple[NodePool, ...]:
    """The default pool, and one that pods select by name, with a low maximum for one type.

    The latter may have another node class.
    """
    everything = [{"name": name, "max": PLENTY} for name, *_ in TYPES]
    narrow = [
        {"name": "medium", "max": chance.whole(1, 4)},
        {"name": "large", "max": PLENTY},
        {"name": "wide", "max": PLENTY},
    ]
    disruption = Disruption(consolidation=consolidation)
    default = _pool("default", everything, disruption, DEFAULT_NODE_CLASS)
    return default, _pool("batch", narrow, disruption, of_batch)


def _pool(
    name: str, types: list[dict[str, Any]], disruption: Disruption, of_class: str
) -> NodePool:
    spec: dict[str, Any] = {"serverTypes": types, "disruption": disruption}
    if of_class != DEFAULT_NODE_CLASS:
        spec["nodeClassRef"] = {"kind": KwokNodeClass.__name__, "name": of_class}
    document = {"metadata": {"name": name}, "spec": spec}
    return NodePool.model_validate(document)
