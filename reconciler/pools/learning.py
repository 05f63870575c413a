"""The real allocatable of a server type's nodes, if it is less than the catalogue promises.

It is learnt from the first node that serves, and the next plan uses it. Only resources that every
node reports from its first second are learnt: before a device plugin has registered, a node would
teach that the type has no GPUs. A learnt value holds as long as nodes of the type show it, and
while there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.nodepool_status import LearntAllocatable
from growth.api.wellknown import INSTANCE_TYPE_LABEL
from growth.api.written import ServerTypeName
from growth.scheduling.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    parse_resources,
    shown_amount,
)
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.core.world import World

LEARNT: Final = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)
MOST: Final = 256


def learnt(pool: NodePool, nodes: Iterable[Node], world: World) -> tuple[LearntAllocatable, ...]:
    """The entries for the pool's status; unchanged as long as the nodes are."""
    found = {each.server_type: each for each in pool.status.learnt_allocatable}
    # The status is worked out in each pass, but the nodes rarely change between two of them.
    least = world.cluster.remembered(("least", pool.name), lambda: _smallest(nodes))
    promised = _promised(least, pool, world)
    for server_type, smallest in least.items():
        if server_type not in promised:
            continue
        # The entry ends as soon as no node shows less than is promised, such as after a change of
        # the image.
        found.pop(server_type, None)
        most = promised[server_type]
        if any(smallest[name] < most.get(name, 0) for name in smallest):
            found[server_type] = _entry(server_type, smallest)
    return tuple(found[name] for name in sorted(found))[:MOST]


def _entry(server_type: ServerTypeName, amounts: Mapping[str, int]) -> LearntAllocatable:
    written = {
        name: f"{amount}m" if name == CPU else str(amount) for name, amount in amounts.items()
    }
    return LearntAllocatable.model_validate({"serverType": server_type, "resources": written})


def _promised(
    types: Collection[ServerTypeName], pool: NodePool, world: World
) -> Mapping[ServerTypeName, Mapping[str, int]]:
    """The most that any offer of each of these types promises."""
    found: dict[ServerTypeName, dict[str, int]] = {}
    catalogue = world.offerings.get(node_class_of(pool, world), ()) if types else ()
    for offering in catalogue:
        if offering.server_type not in types:
            continue
        most = found.setdefault(offering.server_type, {})
        for name in LEARNT:
            most[name] = max(most.get(name, 0), offering.allocatable[name])
    return found


def _smallest(nodes: Iterable[Node]) -> Mapping[ServerTypeName, Mapping[str, int]]:
    """The least of each resource that serving nodes of a type show."""
    found: dict[ServerTypeName, dict[str, int]] = {}
    for server_type, node in _serving(nodes):
        least = found.setdefault(server_type, {})
        amounts = node.allocatable.amounts
        for name in LEARNT:
            if name in amounts:
                least[name] = min(least.get(name, amounts[name]), amounts[name])
    return found


def _serving(nodes: Iterable[Node]) -> Iterator[tuple[ServerTypeName, Node]]:
    return (
        (ServerTypeName(node.labels[INSTANCE_TYPE_LABEL]), node) for node in nodes if node.is_ready
    )


def learnt_text(entry: LearntAllocatable) -> str:
    """A learnt entry as text."""
    amounts = parse_resources(dict(entry.resources)).amounts
    written = ", ".join(f"{name} {shown_amount(name, amount)}" for name, amount in amounts.items())
    return f"nodes of type {entry.server_type} have less allocatable than promised: {written}"
