"""Worlds as the reconciler reads them: Nodes as they are written, and what is believed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.noderecord import NodeRecord
from growth.keeping.believing import believed
from growth.scheduling.node import Node
from reconciler.loop import decide
from reconciler.seeing.nodes import BelievedNodes
from tests.reconciler.build import at, record
from tests.removal.build import machine, world

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.loop import PassOutcome
    from reconciler.providers.port import Machine

UUID = "6f1f6c7e-64a5-4c4e-9f5b-0f1d7f2f7a1"
NOW = 100.0


def name_of(number: int) -> str:
    """A name that growth could have given."""
    return f"default-{UUID}{number}"


def bought(node: Node, **spec: Any) -> NodeRecord:
    """The record of a Node that has joined."""
    status = {"node": {"name": node.name, "uid": node.metadata.uid}}
    return record(node.name, status=status, nodeID=node.spec.provider_id, **spec)


def with_uid(node: Node, uid: str = "") -> Node:
    metadata = msgspec.structs.replace(node.metadata, uid=uid or f"uid-node-{node.name}")
    return msgspec.structs.replace(node, metadata=metadata)


def with_words(
    node: Node, *, labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None
) -> Node:
    """The Node after its kubelet has written on it."""
    before = node.metadata
    metadata = msgspec.structs.replace(
        before,
        labels={**before.labels, **(labels or {})},
        annotations={**before.annotations, **(annotations or {})},
    )
    return msgspec.structs.replace(node, metadata=metadata)


def read(*objects: Any, shown: Iterable[Machine] = (), **changes: Any) -> World:
    """The World that follows from Nodes and records as the API server has them."""
    nodes = BelievedNodes(believed)
    for each in objects:
        if isinstance(each, Node):
            nodes.node_changed(each.name, each)
        if isinstance(each, NodeRecord):
            nodes.record_changed(each.name, each)
    others = [each for each in objects if not isinstance(each, Node)]
    known: dict[str, Any] = {
        "unbound": nodes.unbound,
        "misread": nodes.misread,
        "strangers": nodes.strangers,
        "claimants": nodes.claimants.found,
    }
    return world(*others, *nodes.believed.values(), shown=tuple(shown), **(known | changes))


def listed(*nodes: Node, **fields: Any) -> tuple[Machine, ...]:
    """The machines of these Nodes, as their provider lists them."""
    known = {"server_type": "small", "location": "here"} | fields
    return tuple(machine(each.name, machine_id=each.spec.provider_id, **known) for each in nodes)


def passed(seen: World, seconds: float = NOW) -> PassOutcome:
    """One pass of the whole loop."""
    return decide(seen, at(seconds))


def steps(outcome: PassOutcome) -> list[Action]:
    return [step for sequence in outcome.sequences for step in sequence.steps]
