"""A node as this policy reads it: its taints, with the time in them, and what people have marked.

The taints are growth's own. With the setting `escalatorMarks: Read`, those of Escalator count, too,
so that a pool can be taken over while some of its nodes are on their way out.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.scaling_utilisation import EscalatorMarks
from growth.api.wellknown import FORCE_SCALE_DOWN_TAINT, SCALE_DOWN_TAINT
from growth.keeping.marks import is_cordoned_by_a_person, protection
from reconciler.scaling.utilisation.nodes import GroupNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node


class MarkKeys(NamedTuple):
    """The keys that are read."""

    taints: tuple[str, ...]
    forces: tuple[str, ...]
    protections: tuple[str, ...]
    """Annotations that protect a node with any value but an empty one."""


OWN_MARKS: Final = MarkKeys((SCALE_DOWN_TAINT,), (FORCE_SCALE_DOWN_TAINT,), ())
ESCALATORS_MARKS: Final = MarkKeys(
    ("atlassian.com/escalator",), ("atlassian.com/escalator-force",), ("atlassian.com/no-delete",)
)
MARKS_READ: Final = {
    EscalatorMarks.IGNORE: OWN_MARKS,
    EscalatorMarks.READ: MarkKeys(
        OWN_MARKS.taints + ESCALATORS_MARKS.taints,
        OWN_MARKS.forces + ESCALATORS_MARKS.forces,
        ESCALATORS_MARKS.protections,
    ),
}


def tainted_at(node: Node, keys: MarkKeys = OWN_MARKS) -> datetime | None:
    """When the node was tainted, by the first of these taints whose value can be read."""
    values = (taint.value for taint in node.spec.taints if taint.key in keys.taints)
    return next(filter(None, map(_moment, values)), None)


def is_marked_by(node: Node, keys: MarkKeys = OWN_MARKS) -> bool:
    """Whether the node has any of these taints."""
    return not node.taint_keys.isdisjoint((*keys.taints, *keys.forces))


def _moment(seconds: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def group_node(node: Node, cluster: Cluster, keys: MarkKeys = OWN_MARKS) -> GroupNode:
    """The node as the policy sees it."""
    pods = cluster.occupancy(node.name)
    return GroupNode(
        name=node.name,
        created=node.metadata.creation_timestamp or "",
        capacity=node.allocatable,
        free=node.allocatable - pods.requested,
        is_ready=node.is_ready,
        is_empty=not pods.keepers,
        is_cordoned=is_cordoned_by_a_person(node),
        is_tainted=not node.taint_keys.isdisjoint(keys.taints),
        tainted_at=tainted_at(node, keys),
        is_forced=not node.taint_keys.isdisjoint(keys.forces),
        is_protected=bool(protection(node)) or _has_any(node, keys.protections),
    )


def _has_any(node: Node, annotations: Iterable[str]) -> bool:
    return any(node.metadata.annotations.get(key) for key in annotations)
