"""What a swap writes: requests that name the nodes they replace, removals, and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.disruption import DisruptionReason
from growth.api.removal_reason import REMOVAL_REASONS
from growth.api.wellknown import INSTANCE_TYPE_LABEL, REPLACES_ANNOTATION
from growth.keeping.wanting import kept_by_hand
from reconciler.core.actions import OpenRemoval, Sequence, SetNode, machine
from reconciler.core.actions import version_of as version
from reconciler.facts.cordons import cordoned
from reconciler.facts.events import EventAction, event_about
from reconciler.facts.listings import listed_machine
from reconciler.facts.opening import removal_of
from reconciler.facts.ownership import pool_of_node
from reconciler.planning.creating import creations
from reconciler.replacement.candidates import currency_of_node, price_of_node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from reconciler.core.actions import EmitEvent
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import ClassKey

SHOWN = 3
"""How many types an event names."""


def replacing(requests: Iterable[NodeRequest], text: str) -> dict[str, NodeRequest]:
    """The same requests as parts of a swap, whose pods still run."""
    return {each.name: _replacing(each, text) for each in requests}


def _replacing(request: NodeRequest, text: str) -> NodeRequest:
    annotations = {**request.metadata.annotations, REPLACES_ANNOTATION: text}
    metadata = request.metadata.model_copy(update={"annotations": annotations})
    # A request names waiting pods; these still run, and will have other names when they wait.
    spec = request.spec.model_copy(update={"pods": ()})
    return request.model_copy(update={"metadata": metadata, "spec": spec})


def swap_creations(world: World) -> Iterator[Sequence]:
    """Creates the request of each swap machine that no cache shows yet."""
    unconfirmed = world.ledger.replacement.unconfirmed
    return creations(unconfirmed, world, purpose=lambda _: "to replace other nodes")


def openings(
    names: Iterable[str],
    world: World,
    clouds: Mapping[ClassKey, SightedCloud],
    *,
    reason: DisruptionReason,
    said: Mapping[str, EmitEvent],
) -> Iterator[Sequence]:
    """A removal for each node that its provider lists, unless a person keeps it."""
    for name in names:
        node = world.cluster.nodes[name]
        # The swap began before the person's wish. A cordon of ours on top of theirs is a breach,
        # which stops all writing.
        if kept_by_hand(node) is not None:
            continue
        pool = world.pools.get(pool_of_node(node))
        listed = None if pool is None else listed_machine(node, pool, world, clouds)
        if pool is None or listed is None:
            continue
        opened = OpenRemoval(removal=removal_of(listed, pool=pool, reason=REMOVAL_REASONS[reason]))
        # All nodes are cordoned at once: pods evicted from the first must not land on the second.
        cordon = cordoned(node, REMOVAL_REASONS[reason])
        steps = (*((said[name],) if name in said else ()), cordon, opened)
        yield Sequence(subject=machine(name), steps=steps, why=f"replaced: {reason.value}")


def forgotten(node: Node) -> SetNode:
    """Removes the annotation, so that the node is an ordinary one."""
    return SetNode(node=version(node), annotations={REPLACES_ANNOTATION: None})


def replacement_events(
    names: Iterable[str],
    requests: Iterable[NodeRequest],
    world: World,
    *,
    reason: DisruptionReason,
    why: str,
) -> dict[str, EmitEvent]:
    """The event on each node that goes."""
    names, requests = list(names), list(requests)
    before = sum(price_of_node(name, world) for name in names) / 1e6
    after = float(sum(request.spec.price for request in requests))
    note = f"{_what(names, world)} with {_by(requests)}: {why}"
    if reason is DisruptionReason.CONSOLIDATION:
        saving = f"{before - after:.4f} {currency_of_node(names[0], world)}".rstrip()
        note += f"; this saves {saving} of {before:.4f} per hour"
    word = SAID[reason]
    return {
        name: event_about(
            world.cluster.nodes[name], action=EventAction.REMOVAL, reason=word, note=note
        )
        for name in names
    }


SAID = {
    DisruptionReason.CONSOLIDATION: "Consolidating",
    DisruptionReason.DRIFT: "ReplacingDrifted",
    DisruptionReason.UNHEALTHY: "ReplacingUnhealthy",
}


def _what(names: list[str], world: World) -> str:
    types = (world.cluster.nodes[name].labels.get(INSTANCE_TYPE_LABEL, "a node") for name in names)
    return f"replaces {_counted(types)}"


def _by(requests: list[NodeRequest]) -> str:
    types = [request.spec.server_type.canonical for request in requests]
    return _counted(types) if types else "free room on other nodes"


def _counted(types: Iterable[str]) -> str:
    known = list(types)
    found = [f"{known.count(each)} x {each}" for each in sorted(set(known))]
    rest = f" and {len(found) - SHOWN} other types" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + rest
