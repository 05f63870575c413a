"""The cordon of a node that is drained: it bears our mark, by which it is known to be no person's.

The mark tells for which reason the node goes. What is marked and has no removal any more was left
behind, and is taken off again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.removal_reason import RemovalReason
from growth.api.wellknown import CORDONED_ANNOTATION
from reconciler.core.actions import SetNode, machine, version_of
from reconciler.core.step import Step
from reconciler.facts.marks import unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.sighted_clock import Clock

REASONS: Final = frozenset(reason.value for reason in RemovalReason)


def is_ours(node: Node) -> bool:
    """Whether it was cordoned for a removal, whether it still is or not."""
    return node.metadata.annotations.get(CORDONED_ANNOTATION) in REASONS


def cordoned(node: Node, reason: RemovalReason) -> SetNode:
    """No pod comes to the node any more."""
    return SetNode(
        node=version_of(node),
        annotations={CORDONED_ANNOTATION: reason.value},
        unschedulable=True,
    )


def uncordoned(node: Node) -> SetNode:
    """The node is as it was before it was to go, without any mark of ours."""
    free = unmarked(node)
    return msgspec.structs.replace(
        free, annotations={**free.annotations, CORDONED_ANNOTATION: None}, unschedulable=False
    )


def marks_left_behind(world: World, shown: Clock) -> Iterator[tuple[str, Step]]:
    """Nodes whose removal has disappeared without its end: somebody took its finalizer off."""
    if not shown.runs:
        return
    for node in world.cluster.ordered_nodes:
        is_left_behind = is_ours(node) and node.name not in world.removals
        if is_left_behind and world.is_free(machine(node.name)):
            yield node.name, Step(actions=(uncordoned(node),), why="its removal is no more")
