"""growth's own cordon of a node that is drained.

An annotation with the reason of the removal distinguishes it from a cordon that a person has set.
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
    """Whether growth cordoned it for a removal, even if someone has uncordoned it since."""
    return node.metadata.annotations.get(CORDONED_ANNOTATION) in REASONS


def cordoned(node: Node, reason: RemovalReason) -> SetNode:
    """Cordons the node and records the reason."""
    return SetNode(
        node=version_of(node),
        annotations={CORDONED_ANNOTATION: reason.value},
        unschedulable=True,
    )


def uncordoned(node: Node) -> SetNode:
    """Removes the cordon and all marks of growth."""
    free = unmarked(node)
    return msgspec.structs.replace(
        free, annotations={**free.annotations, CORDONED_ANNOTATION: None}, unschedulable=False
    )
