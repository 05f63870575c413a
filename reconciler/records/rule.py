"""What happens next with each record.

    a machine without one    it is made anew from the provider's listing, never from the Node
    its Node has joined      the record notes which one, so that no other can claim the machine
    its machine is gone      the record is deleted
    its pool is gone         the record is deleted; a pool may leave its machines behind
    another Node claims it   the record tells of it (contested.py)
    its Node was changed     growth's labels are written back (restoring.py)

Purchases write their record themselves, before the request says that the machine comes
(provisioning/pending.py). A machine lacks its record only after an upgrade from a growth that wrote
none, or if somebody deleted it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.noderecord import JoinedNode
from growth.api.noderemovalrequest import RemovalPhase
from growth.api.noderequest import RequestPhase
from growth.api.wellknown import CORDONED_ANNOTATION
from growth.keeping.believing import is_node_of
from reconciler.core.actions import CreateNodeRecord, Delete, Sequence, machine, version_of
from reconciler.core.decision import Decision, earliest
from reconciler.facts.listings import clouds
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.ownership import sees_all_pools
from reconciler.facts.recording import KIND, patched_record, record_of_listing, record_of_purchase
from reconciler.providers.port import ClassKey, MachineState
from reconciler.records.contested import contested
from reconciler.records.ledger import RecordsLedger
from reconciler.records.restoring import restored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.noderecord import NodeRecord
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.facts.listings import SightedCloud
    from reconciler.providers.port import Listing, Machine


def decide(world: World, now: Instant) -> Decision[RecordsLedger]:
    """One step for each machine whose record, or Node, isn't as it should be."""
    seen, again = clouds(world), restored(world, now)
    return Decision(
        section=RecordsLedger(written_back=again.written_back),
        sequences=(
            *_made_anew(world, now),
            *_bound(world, now),
            *_ended(world, seen),
            *_left_behind(world),
            *contested(world, now),
            *again.sequences,
        ),
        wake_at=earliest(again.wakes),
    )


def _made_anew(world: World, now: Instant) -> Iterator[Sequence]:
    for key, listing in _believed(world):
        # Nearly all machines have a record, so this cheap check comes first.
        for name in sorted(listing.machines.keys() - world.records.keys()):
            listed = listing.machines[name]
            record = _anew(listed, key, world, now) if world.is_free(machine(name)) else None
            if record is not None:
                made = CreateNodeRecord(record=record)
                why = "the machine has no record"
                yield Sequence(subject=machine(name), steps=(made,), why=why)


def _believed(world: World) -> Iterator[tuple[ClassKey, Listing]]:
    for key, sight in sorted(world.clouds.items()):
        if sight.listing is not None and world.ledger.brakes.believes(key):
            yield key, sight.listing


def _anew(listed: Machine, key: ClassKey, world: World, now: Instant) -> NodeRecord | None:
    """Of a machine that an object tells of; an orphan needs none."""
    pool = world.pools.get(listed.pool)
    if listed.state is MachineState.DELETING or pool is None or node_class_of(pool, world) != key:
        return None
    request = world.requests.get(listed.name)
    if request is not None and request.metadata.uid == listed.request_uid:
        if request.status.phase not in {RequestPhase.PROVISIONING, RequestPhase.READY}:
            return None
        bought_at = request.status.accepted_at or now.wall
        return record_of_purchase(
            request, pool, world, machine_id=listed.machine_id, bought_at=bought_at
        )
    if listed.name not in world.cluster.nodes:
        return None
    return record_of_listing(listed, pool, world, now)


def _bound(world: World, now: Instant) -> Iterator[Sequence]:
    """Notes the Node that has joined; again if it was deleted and has come back."""
    for name, record in world.unbound.items():
        node = world.cluster.nodes.get(name)
        if node is None or not is_node_of(node, record) or not world.is_free(machine(name)):
            continue
        joined = JoinedNode(name=node.name, uid=node.metadata.uid)
        changes = {"node": joined, "joined_at": now.wall, **_own_cordon(node, record, world)}
        patch = patched_record(record, now, **changes)
        yield Sequence(subject=machine(name), steps=(patch,), why="its node has joined")


def _own_cordon(node: Node, record: NodeRecord, world: World) -> Mapping[str, str]:
    """The cordon of a drain that began before there were records: its removal proves it."""
    removal, raw = world.removals.get(record.name), world.misread.get(record.name, node)
    said = raw.metadata.annotations.get(CORDONED_ANNOTATION)
    if removal is None or not node.spec.unschedulable or said != removal.spec.reason.value:
        return {}
    return {"cordoned": said} if record.status.cordoned is None else {}


def _ended(world: World, seen: Mapping[ClassKey, SightedCloud]) -> Iterator[Sequence]:
    """Records whose machine two listings in a row don't show, and that nothing else tells of."""
    for name, record in _without_node(world):
        pool = world.pools.get(record.spec.pool)
        cloud = None if pool is None else seen.get(_class_of(record))
        if cloud is None or not _is_gone(record, cloud) or not world.is_free(machine(name)):
            continue
        if not _is_spoken_for(record, world):
            delete = Delete(kind=KIND, version=version_of(record))
            yield Sequence(subject=machine(name), steps=(delete,), why="its machine is gone")


def _left_behind(world: World) -> Iterator[Sequence]:
    """Records of pools that are gone; the pool itself waits for what it has to clean up.

    The pool doesn't own its records: `kubectl delete --cascade=foreground` would delete them first,
    and growth would not know any more which nodes bear its marks.
    """
    gone = {record.spec.pool for record in world.records.values()} - world.pools.keys()
    if not gone or not sees_all_pools(world):
        return
    for name, record in sorted(world.records.items()):
        if record.spec.pool in gone and name not in world.removals and world.is_free(machine(name)):
            delete = Delete(kind=KIND, version=version_of(record))
            yield Sequence(subject=machine(name), steps=(delete,), why="its pool is gone")


def _without_node(world: World) -> Iterator[tuple[str, NodeRecord]]:
    """Nearly all records have a Node, so this cheap check comes first."""
    for name in sorted(world.records.keys() - world.cluster.nodes.keys()):
        yield name, world.records[name]


def _class_of(record: NodeRecord) -> ClassKey:
    return ClassKey(record.spec.node_class_ref.kind, record.spec.node_class_ref.name)


def _is_spoken_for(record: NodeRecord, world: World) -> bool:
    """Whether a removal still tells of the machine, or a request whose Node hasn't been seen.

    A machine may end in the moment in which its Node joins: without its record the Node would be
    a stranger that nothing takes away. A Node that has come and gone doesn't come back. A removal
    that has failed stays until a person deletes it, also if the machine is gone by itself.
    """
    removal = world.removals.get(record.name)
    is_removed = removal is not None and removal.status.phase is not RemovalPhase.REMOVAL_FAILED
    return is_removed or (record.status.node is None and record.name in world.requests)


def _is_gone(record: NodeRecord, cloud: SightedCloud) -> bool:
    """Whether both listings are younger than the record and show no such machine."""
    made = record.metadata.creation_timestamp
    if cloud.before is None or cloud.began is None or made is None or cloud.began <= made:
        return False
    machine_id = record.spec.node_id
    return machine_id not in cloud.machines and machine_id not in cloud.before
