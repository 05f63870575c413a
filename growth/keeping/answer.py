"""Why each node of a pool is kept; the reasons are checked in the order that removal uses.

A node with pods is kept because of them, above all because of a pod that may not be moved. A node
without pods is idle unless something else keeps it, and an idle node is removed after a wait. Until
then its start-up, the minimum of its pool or its paid hour may keep it; each of these has an end of
its own.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.nodepool import PaidHour
from growth.keeping.besides_pods import kept_besides_pods
from growth.keeping.marks import bought_at, pool_of_node, scale_down_at
from growth.keeping.occupants import NO_OCCUPANTS, occupants
from growth.keeping.order import in_order, kept_at_least
from growth.keeping.paid_hours import seconds_until_marked
from growth.keeping.wanting import GROWTH, Keeping, KeepingReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.keeping.occupants import Occupants
    from growth.keeping.scene import KeepingScene
    from growth.scheduling.node import Node


PODS_AT_ONCE: Final = 5_000
"""Pods to ask about in one pass, which takes about a twentieth of a second."""


def keepings(scene: KeepingScene, now: Instant) -> Mapping[str, Keeping]:
    """Why each node is kept, by node name."""
    return keeping_answers(scene, now).keepings


class KeepingAnswers(NamedTuple):
    """The answers at one moment."""

    keepings: Mapping[str, Keeping]
    """Empty if they aren't complete: the minimum of a pool depends on all of its nodes."""
    occupants: Occupants
    """The answers of nodes with pods, to reuse next time."""
    is_complete: bool
    """Whether each node has an answer."""


def keeping_answers(
    scene: KeepingScene, now: Instant, *, before: Occupants = NO_OCCUPANTS, most: float = inf
) -> KeepingAnswers:
    """The same, for repeated calls; `before` has the previous answers.

    At most `most` pods are asked about. If there were more, the answers aren't complete, and the
    next call continues.
    """
    nodes = scene.cluster.nodes
    ours = [name for name in sorted(nodes) if pool_of_node(nodes[name])]
    known = occupants(ours, scene.cluster, now, before=before, most=most)
    if len(known.answers) < len(ours):
        return KeepingAnswers({}, known, is_complete=False)
    occupied = {
        name: keeping
        for name in ours
        # A removal says more about a node than its pods: these are being moved away.
        if name not in scene.removals and (keeping := known.answers[name].keeping) is not None
    }
    others = of_unoccupied((nodes[name] for name in ours if name not in occupied), scene, now)
    return KeepingAnswers({**occupied, **others}, known, is_complete=True)


def of_unoccupied(
    nodes: Iterable[Node], scene: KeepingScene, now: Instant
) -> Mapping[str, Keeping]:
    """The answers for nodes that no pod keeps, or that are being removed.

    All such nodes of a pool must be passed together, because some of them may be its minimum.
    """
    found: dict[str, Keeping] = {}
    idle: defaultdict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        keeping = kept_besides_pods(node, scene, now)
        if keeping is not None:
            found[node.name] = keeping
        else:
            idle[pool_of_node(node)].append(node)
    for pool, without in sorted(idle.items()):
        found |= dict(_of_idle(without, scene, now, pool=pool))
    return found


def _of_idle(
    nodes: list[Node], scene: KeepingScene, now: Instant, *, pool: str
) -> Iterator[tuple[str, Keeping]]:
    """Which idle nodes of a pool stay, and when the others are removed."""
    rules = scene.pools.get(pool)
    if rules is None:
        why = f"it is idle, but its NodePool {pool} no longer exists, so it isn't removed"
        for node in nodes:
            yield (
                node.name,
                Keeping(reason=KeepingReason.IDLE, why=why, owner="person who deleted the pool"),
            )
        return
    size = scene.size_of(rules)
    ordered = in_order(nodes, rules, scene.cluster)
    # Nodes that the policy holds count for its floors, so that the others are free to go.
    free = (n for n in ordered if not size.keeps(n.name) and n.name not in size.apart)
    least = set(kept_at_least(free, rules, scene))
    for node in ordered:
        if size.keeps(node.name):
            yield (
                node.name,
                Keeping(reason=KeepingReason.SIZED, why=size.why, owner=f"NodePool {pool}"),
            )
        elif node.name in least:
            why = "the minimum of its pool requires it"
            yield (
                node.name,
                Keeping(reason=KeepingReason.MINIMUM, why=why, owner=f"NodePool {pool}"),
            )
        else:
            yield node.name, _going(node, rules, scene, now)


def _going(node: Node, pool: NodePool, scene: KeepingScene, now: Instant) -> Keeping:
    """When an idle node is removed."""
    # Once a node is marked, only its mark counts: removal goes by it, too.
    if (at := scale_down_at(node)) is not None:
        why = "it is idle, and is removed unless a pod arrives"
        return Keeping(reason=KeepingReason.IDLE, why=why, owner=GROWTH, ends=at)
    bought = bought_at(node)
    if scene.paid_hours.get(pool.name) is PaidHour.USE and bought is not None:
        wait = seconds_until_marked(bought, pool, now.wall)
        if wait > 0:
            ends = now.ahead(wait)
            why = "it is idle, and stays until the end of the hour that is already paid"
            return Keeping(reason=KeepingReason.PAID, why=why, owner=GROWTH, ends=ends)
    why = "it is idle, and is marked for removal after a short wait"
    return Keeping(reason=KeepingReason.IDLE, why=why, owner=GROWTH)
