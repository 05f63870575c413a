"""Writes growth's labels back where somebody has changed them, and takes a start-up taint off.

Rules believe the record, so they lose nothing when somebody changes growth's labels on a Node. But
pods select nodes by these labels, and people read them. The start-up taint on a Node that served
before keeps all pods off: a kubelet sets it when its Node was deleted and it registers again. The
two taints of a node that is about to go are set and taken off by the rules that decide about it
(removal/idle.py).

If another program insists, growth gives way: it writes back at once, then after 10 seconds, and
each time after twice as long, up to an hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from growth.api.noderequest import RequestPhase
from growth.api.wellknown import UNREGISTERED_TAINT
from growth.keeping.believing import recorded_labels
from growth.keeping.marks import is_unregistered
from reconciler.core.actions import Sequence, SetNode, machine, version_of
from reconciler.facts.events import EventAction, event_about
from reconciler.records.ledger import WrittenBack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.noderecord import NodeRecord
    from growth.instant import Instant
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.taints import Taint
    from reconciler.core.world import World


class Restored(NamedTuple):
    """What is written back now, what to remember, and when the next Node may be written."""

    sequences: tuple[Sequence, ...]
    written_back: Mapping[str, WrittenBack]
    wakes: tuple[float, ...]


def restored(world: World, now: Instant) -> Restored:
    """One write for each Node that isn't as growth left it."""
    last = world.ledger.records.written_back
    kept = {name: each for name, each in last.items() if now.monotonic < each.forgotten_at}
    sequences: list[Sequence] = []
    wakes: list[float] = []
    for record, node in _candidates(world):
        before = kept.get(record.name)
        # Asked first, because it is cheap, and another program may insist on thousands of nodes.
        if before is not None and now.monotonic < before.next_at:
            wakes.append(before.next_at)
        elif _is_altered(node, record) and _may_be_written(node, record, world):
            sequences.append(_written_back(record, node))
            times = 1 if before is None else before.times + 1
            kept[record.name] = WrittenBack(times, now.monotonic)
    return Restored(tuple(sequences), kept, tuple(wakes))


def _candidates(world: World) -> Iterator[tuple[NodeRecord, Node]]:
    """Nodes that may be altered, as they are written, with their records."""
    for name in sorted(world.misread.keys() | _closed(world.cluster)):
        node = world.misread.get(name) or world.cluster.nodes.get(name)
        record = world.records.get(name)
        if node is not None and record is not None:
            yield record, node


def _closed(cluster: Cluster) -> frozenset[str]:
    """Nodes with the start-up taint; found once for each snapshot of the cluster."""
    return cluster.remembered(
        "closed",
        lambda: frozenset(name for name, node in cluster.nodes.items() if is_unregistered(node)),
    )


def _is_altered(node: Node, record: NodeRecord) -> bool:
    return bool(_labels(node, record)) or _taints(node) != node.spec.taints


def _labels(node: Node, record: NodeRecord) -> Mapping[str, str]:
    wanted = recorded_labels(record)
    return {key: value for key, value in wanted.items() if node.labels.get(key) != value}


def _taints(node: Node) -> tuple[Taint, ...]:
    if not node.is_ready:
        return node.spec.taints
    return tuple(each for each in node.spec.taints if each.key != UNREGISTERED_TAINT)


def _may_be_written(node: Node, record: NodeRecord, world: World) -> bool:
    """Whether the Node has served, and no other rule writes it because it comes or goes."""
    name, joined, pool = record.name, record.status.node, world.pools.get(record.spec.pool)
    request = world.requests.get(name)
    has_served = request is None or request.status.phase is RequestPhase.READY
    is_its_node = joined is not None and joined.uid == node.metadata.uid
    is_going = name in world.removals or node.metadata.deletion_timestamp is not None
    stays = pool is not None and pool.metadata.deletion_timestamp is None
    is_left_alone = is_going or not stays or world.is_paused(record.spec.pool)
    return has_served and is_its_node and not is_left_alone and world.is_free(machine(name))


def _written_back(record: NodeRecord, node: Node) -> Sequence:
    labels, taints = _labels(node, record), _taints(node)
    change = SetNode(
        node=version_of(node),
        labels=labels,
        taints=None if taints == node.spec.taints else taints,
    )
    keys = (*sorted(labels), *((UNREGISTERED_TAINT,) if change.taints is not None else ()))
    note = (
        f"{', '.join(keys)} on the Node was changed, not by growth; growth has written back what "
        "it was. If another program changes it again and again, growth waits longer each time."
    )
    told = event_about(record, action=EventAction.DECIDING, reason="NodeWrittenBack", note=note)
    why = "somebody has changed growth's labels or taints on the node"
    return Sequence(subject=machine(record.name), steps=(change, told), why=why)
