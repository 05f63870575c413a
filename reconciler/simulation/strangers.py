"""Nodes that lie, in each word by which growth could be misled.

A foreign Node claims to be growth's: with the ID of a machine, the labels of its pool, an absurd
price, and marks that say it should go, or that it replaces a node. And the kubelet of a real node
overwrites growth's words on its own Node. Each lie ends after a while.

growth must not touch a foreign Node. What it decides about real ones, the other auditors check: the
lies would delete machines, count them twice, or hold places that don't exist.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
    POOL_LABEL,
    PRICE_ANNOTATION,
    REPLACES_ANNOTATION,
    RESERVED_PREFIX,
    SCALE_DOWN_AT_ANNOTATION,
    SCALE_DOWN_TAINT,
    SERVER_ID_ANNOTATION,
    TEMPLATE_ANNOTATION,
    UNREGISTERED_TAINT,
)
from growth.kube.cache.resource import Key
from growth.kube.errors import NotFound
from growth.scheduling.metadata import Metadata
from growth.scheduling.taints import NO_SCHEDULE, Taint
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.server import with_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.scheduling.node import Node
    from reconciler.simulation.chance import Chance
    from reconciler.simulation.living import Living
    from reconciler.simulation.server import StoredChange

STAYS: Final = (60.0, 1200.0)
"""Seconds until a foreign Node is deleted."""
LONG_AGO: Final = "2020-01-01T00:00:00Z"
TAINTS: Final = (
    Taint(SCALE_DOWN_TAINT, NO_SCHEDULE, "0"),
    Taint(UNREGISTERED_TAINT, NO_SCHEDULE),
)
"""They also keep the pods of the workload off."""
RULE: Final = "a foreign Node is left alone"


class Strangers:
    """All Nodes that lie."""

    def __init__(self, living: Living) -> None:
        self._living = living
        self._server = living.server
        self._names: set[str] = set()
        self._joined = 0
        self._server.kind("nodes").heard_by.append(self._node_changed)

    @property
    def strokes(self) -> Mapping[SimulatedFault, Callable[[Chance], None]]:
        """What they do by kind of fault."""
        return {SimulatedFault.FOREIGN_NODE: self._join, SimulatedFault.LYING_NODE: self._lie}

    def _join(self, chance: Chance) -> None:
        victim = self._a_victim(chance)
        if victim is None:
            return
        self._joined += 1
        name = f"stranger-{self._joined}"
        self._living.around.trace.note(f"enemy: {name} claims to be {victim.name}")
        labels, annotations = lies_about(victim, chance)
        metadata = Metadata(name=name, labels=labels, annotations=annotations)
        spec = msgspec.structs.replace(victim.spec, taints=TAINTS, unschedulable=False)
        self._names.add(name)
        node = msgspec.structs.replace(victim, metadata=metadata, spec=spec)
        self._server.create("nodes", node)
        self._living.timeline.after(chance.between(*STAYS), self._leave, name)

    def _leave(self, name: str) -> None:
        self._names.remove(name)
        with suppress(NotFound):
            self._server.delete("nodes", Key("", name))

    def _lie(self, chance: Chance) -> None:
        victim = self._a_victim(chance)
        if victim is None:
            return
        self._living.around.trace.note(f"enemy: {victim.name} lies about itself")
        labels, annotations = lies_about(victim, chance)
        key = Key("", victim.name)
        self._server.change("nodes", key, partial(_saying, labels, annotations))
        wait = chance.between(*STAYS)
        self._living.timeline.after(wait, self._unsay, victim, labels, annotations)

    def _unsay(
        self, before: Node, labels: Mapping[str, str], annotations: Mapping[str, str]
    ) -> None:
        def truthful(node: Node) -> Node:
            metadata = before.metadata
            return _with_words(
                node,
                _without(node.metadata.labels, labels, metadata.labels),
                _without(node.metadata.annotations, annotations, metadata.annotations),
            )

        with suppress(NotFound):
            self._server.change("nodes", Key("", before.name), truthful)

    def _a_victim(self, chance: Chance) -> Node | None:
        """The Node of a machine that serves."""
        machines = self._living.cloud.machines
        nodes = (self._server.kind("nodes").named(name) for name in machines)
        serving = [node for node in nodes if node is not None and node.is_ready]
        return chance.one_of(serving) if serving else None

    def _node_changed(self, event: StoredChange) -> None:
        old, new = event.old, event.new
        if event.key.name not in self._names or old is None:
            return
        if new is None:
            self._living.auditor.breach(RULE, f"{event.key.name} is deleted")
        elif _words(old) != _words(new):
            self._living.auditor.breach(RULE, f"{event.key.name} is changed")


def lies_about(victim: Node, chance: Chance) -> tuple[dict[str, str], dict[str, str]]:
    """Labels and annotations that say of a Node what would do harm if growth believed it."""
    labels = {
        POOL_LABEL: "batch" if victim.labels.get(POOL_LABEL) == "default" else "default",
        MANAGED_BY_LABEL: MANAGED_BY,
        NODE_REQUEST_LABEL: f"{victim.name}-not",
        INSTANCE_TYPE_LABEL: "small" if chance.happens(0.5) else "wide",
    }
    annotations = {
        PRICE_ANNOTATION: "1e999999" if chance.happens(0.5) else "4000",
        BOUGHT_AT_ANNOTATION: LONG_AGO,
        SERVER_ID_ANNOTATION: f"{victim.name}-not",
        REPLACES_ANNOTATION: victim.name,
        TEMPLATE_ANNOTATION: "another",
        SCALE_DOWN_AT_ANNOTATION: LONG_AGO,
    }
    return labels, annotations


def _saying(labels: Mapping[str, str], annotations: Mapping[str, str], node: Node) -> Node:
    """The node with these words on top of its own."""
    words = {**node.metadata.labels, **labels}, {**node.metadata.annotations, **annotations}
    return _with_words(node, *words)


def _with_words(node: Node, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Node:
    changed: Node = with_metadata(node, labels=labels, annotations=annotations)
    return changed


def _without(
    now: Mapping[str, str], lies: Mapping[str, str], before: Mapping[str, str]
) -> dict[str, str]:
    """The words of now, with the earlier ones for lies that nothing else has overwritten."""
    left = {key for key, value in lies.items() if now.get(key) == value}
    return {key: value for key, value in now.items() if key not in left} | {
        key: before[key] for key in left & before.keys()
    }


def _words(node: Node) -> tuple[object, ...]:
    """What growth could write; people may cordon and keep any node."""
    annotations = {
        key: value
        for key, value in node.metadata.annotations.items()
        if key.startswith(RESERVED_PREFIX) and key != DO_NOT_DISRUPT_ANNOTATION
    }
    return node.spec.taints, dict(node.labels), annotations, node.status
