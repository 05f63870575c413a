"""The marks of a node that is about to go, and whether it can still be used.

The first taint keeps pods away and records when it was set; the annotation records when the node
goes. When the removal is opened, a second taint is set: a pod that tolerates the first one could
otherwise arrive between the last look at the node's pods and the end of its machine. Only growth
sets these three. A cordon without growth's annotation is a person's, and such a node is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.wellknown import LEAVING_TAINT, SCALE_DOWN_AT_ANNOTATION, SCALE_DOWN_TAINT
from growth.api.written import write_time
from growth.keeping.marks import (
    is_barred,
    is_cordoned_by_a_person,
    is_marked,
    is_tainted,
    scale_down_at,
)
from growth.scheduling.taints import NO_SCHEDULE, Taint
from reconciler.core.actions import SetNode, machine, version_of
from reconciler.facts.sizes import is_closed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.instant import Instant
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from reconciler.core.world import World

__all__ = [
    "barred",
    "is_barred",
    "is_cordoned_by_a_person",
    "is_marked",
    "is_tainted",
    "marked",
    "reusable",
    "scale_down_at",
    "tainted",
    "unmarked",
]


MARKS: Final = frozenset({SCALE_DOWN_TAINT, LEAVING_TAINT})


def marked(node: Node, now: Instant, *, seconds: float, effect: str = NO_SCHEDULE) -> SetNode:
    """Marks the node to go in this many seconds, unless a pod needs it."""
    taint = Taint(SCALE_DOWN_TAINT, effect, str(int(now.wall.timestamp())))
    at = write_time(now.ahead(seconds))
    return SetNode(
        node=version_of(node),
        annotations={SCALE_DOWN_AT_ANNOTATION: at},
        taints=(*_other_taints(node), taint),
    )


def barred(node: Node) -> SetNode:
    """Keeps away even pods that tolerate the first taint: the node's machine is given back."""
    others = (taint for taint in node.spec.taints if taint.key != LEAVING_TAINT)
    return SetNode(node=version_of(node), taints=(*others, Taint(LEAVING_TAINT, NO_SCHEDULE)))


def unmarked(node: Node, also: frozenset[str] = frozenset()) -> SetNode:
    """Removes growth's marks, and these taints; taints and annotations of others stay."""
    present = SCALE_DOWN_AT_ANNOTATION in node.metadata.annotations
    annotations = {SCALE_DOWN_AT_ANNOTATION: None} if present else {}
    taints = tuple(taint for taint in _other_taints(node) if taint.key not in also)
    return SetNode(node=version_of(node), annotations=annotations, taints=taints)


def tainted(cluster: Cluster) -> Mapping[str, Node]:
    """The nodes that are about to go, by name; found once for each snapshot of the cluster."""
    return cluster.remembered(
        "tainted",
        lambda: {name: node for name, node in cluster.nodes.items() if is_tainted(node)},
    )


def reusable(world: World) -> Mapping[str, Node]:
    """Marked nodes that can still be used, as they will be without the mark."""
    return dict(_reusable(world))


def _reusable(world: World) -> Iterator[tuple[str, Node]]:
    for name, node in tainted(world.cluster).items():
        if _is_reusable(name, world):
            spec = msgspec.structs.replace(node.spec, taints=_other_taints(node))
            yield name, msgspec.structs.replace(node, spec=spec)


def _is_reusable(name: str, world: World) -> bool:
    """Whether the node can still be used: no delete of its machine was sent or is under way."""
    if is_closed(name, world):
        return False
    removal = world.removals.get(name)
    if removal is None:
        return True
    return (
        removal.spec.reason.meaning.is_reusable
        and removal.status.phase is RemovalPhase.PENDING
        and removal.status.remove_attempted_at is None
        and removal.metadata.deletion_timestamp is None
        # The provider was asked, though the removal's status doesn't show it yet.
        and name not in world.deletions
        and world.is_free(machine(name))
    )


def _other_taints(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.spec.taints if taint.key not in MARKS)
