"""The cordon of a node that goes with its pods: it bears our mark, so it is no person's.

The mark tells for which reason the node goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.removal_reason import RemovalReason
from growth.api.wellknown import CORDONED_ANNOTATION
from reconciler.core.actions import SetNode, version_of
from reconciler.facts.marks import unmarked

if TYPE_CHECKING:
    from growth.scheduling.node import Node

REASONS: Final = frozenset(reason.value for reason in RemovalReason)


def bears_our_cordon(node: Node) -> bool:
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
