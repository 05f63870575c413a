"""The world that rules see while subjects are put aside.

What is put aside must not vanish: a machine that nobody knew would be bought again, or deleted as
an orphan. So harmless objects stand in for those that a rule fails on. They keep what counts (name,
pool, type, price, resources, phase) and nothing that invites a decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from pydantic import BaseModel

from growth.api.nodepool_status import NodePoolStatus
from growth.api.wellknown import (
    CURRENCY_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    PRICE_ANNOTATION,
    RESERVED_PREFIX,
)
from growth.keeping.marks import currency_on, pool_of_node, price_on
from growth.scheduling.metadata import Metadata, ObservedCondition
from growth.scheduling.node import NodeSpec, NodeStatus
from growth.scheduling.occupancy import Occupancy
from growth.scheduling.pod_spec import PodSpec, PodStatus
from reconciler.core.actions import (
    Subject,
    SubjectKind,
    machine,
    node_class_subject,
    pod_subject,
    pool_subject,
)
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from growth.api.nodepool import NodePool
    from growth.api.noderecord import NodeRecord
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.world import World

OF_METADATA = frozenset(
    {
        "name",
        "uid",
        "resource_version",
        "generation",
        "finalizers",
        "owner_references",
        "creation_timestamp",
        "deletion_timestamp",
    }
)
OF_STATUS = frozenset(
    {
        "phase",
        "node_id",
        "node_name",
        "last_transition_time",
        "accepted_at",
        "ready_at",
        "unmet_scope",
        "removal_attempt",
        "remove_attempted_at",
    }
)
OF_RECORD = frozenset(
    {
        "pool",
        "node_class_ref",
        "server_type",
        "location",
        "price",
        "currency",
        "node_id",
        "request_uid",
        "bought_at",
    }
)
OF_RECORD_STATUS = frozenset({"node", "joined_at", "goes_at", "cordoned"})
OF_POOL = frozenset({"server_types", "limits", "node_class_ref", "deletion_policy", "weight"})

_Model = TypeVar("_Model", bound=BaseModel)


def with_stand_ins(world: World) -> World:
    """The world in which nothing is decided on what is put aside."""
    known = world.ledger.aside.subjects
    if not known:
        return world
    poison = frozenset(subject for subject, each in known.items() if each.is_poison)
    aside = frozenset((*world.aside, *known, *_of_pools(known, world)))
    return msgspec.structs.replace(
        world,
        aside=aside,
        cluster=_cluster(world.cluster, poison),
        pending={uid: pod for uid, pod in world.pending.items() if pod_subject(pod) not in poison},
        requests=_ours(world.requests, poison),
        removals=_ours(world.removals, poison),
        records=_records(world.records, poison),
        unbound=_records(world.unbound, poison),
        # What is written on them is only told of.
        misread=_without(world.misread, poison),
        strangers=_without(world.strangers, poison),
        pools={
            name: _pool(pool) if pool_subject(name) in poison else pool
            for name, pool in world.pools.items()
        },
        node_classes={
            key: _without_words(each) if node_class_subject(key) in poison else each
            for key, each in world.node_classes.items()
        },
    )


def _of_pools(known: Mapping[Subject, object], world: World) -> Iterator[Subject]:
    """Pools of node classes that are put aside, and the machines of pools that are."""
    pools = {
        name
        for name, pool in world.pools.items()
        if pool_subject(name) in known or node_class_subject(node_class_of(pool, world)) in known
    }
    if not pools:
        return
    yield from map(pool_subject, pools)
    for name, node in world.cluster.nodes.items():
        if pool_of_node(node) in pools:
            yield machine(name)
    for name, request in world.requests.items():
        if request.spec.pool in pools:
            yield machine(name)
    for name, removal in world.removals.items():
        if removal.spec.pool in pools:
            yield machine(name)


def _cluster(cluster: Cluster, poison: frozenset[Subject]) -> Cluster:
    """A new snapshot: what the old one remembers was derived from the poison."""
    nodes = {
        name: _node(node) if machine(name) in poison else node
        for name, node in cluster.nodes.items()
    }
    pods = {subject.name for subject in poison if subject.kind is SubjectKind.POD}
    occupancies = {name: _occupancy(held, pods) for name, held in cluster.occupancies.items()}
    return msgspec.structs.replace(cluster, nodes=nodes, occupancies=occupancies)


def _node(node: Node) -> Node:
    metadata = node.metadata
    price = {PRICE_ANNOTATION: format(price_on(node), "f"), CURRENCY_ANNOTATION: currency_on(node)}
    ready = next((each for each in node.status.conditions if each.type == "Ready"), None)
    conditions = () if ready is None else (ObservedCondition(type="Ready", status=ready.status),)
    return msgspec.structs.replace(
        node,
        metadata=Metadata(
            name=metadata.name,
            uid=metadata.uid,
            resource_version=metadata.resource_version,
            labels={k: v for k, v in node.labels.items() if k.startswith(RESERVED_PREFIX)},
            annotations=price,
        ),
        # No pod is planned onto it.
        spec=NodeSpec(provider_id=node.spec.provider_id, unschedulable=True),
        status=NodeStatus(
            capacity=node.status.capacity,
            allocatable=node.status.allocatable,
            conditions=conditions,
        ),
    )


def _occupancy(held: Occupancy, pods: set[str]) -> Occupancy:
    if not any(pod.name in pods for pod in held.pods):
        return held
    return Occupancy(tuple(_pod(each) if each.name in pods else each for each in held.pods))


def _pod(pod: Pod) -> Pod:
    """A pod that keeps its node, and that nobody moves."""
    metadata, spec = pod.metadata, pod.spec
    return msgspec.structs.replace(
        pod,
        metadata=Metadata(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            resource_version=metadata.resource_version,
            annotations={DO_NOT_DISRUPT_ANNOTATION: "true"},
        ),
        spec=PodSpec(node_name=spec.node_name, containers=spec.containers),
        status=PodStatus(phase="Running", nominated_node_name=pod.status.nominated_node_name),
    )


def _ours(found: Mapping[str, Any], poison: frozenset[Subject]) -> Mapping[str, Any]:
    """Requests or removals, without the words of those that are poison."""
    concerned = {name: each for name, each in found.items() if machine(name) in poison}
    plain = {
        name: _without_words(each, status=_only(each.status, OF_STATUS))
        for name, each in concerned.items()
    }
    return {**found, **plain} if plain else found


def _records(
    found: Mapping[str, NodeRecord], poison: frozenset[Subject]
) -> Mapping[str, NodeRecord]:
    """Records that say what the machine is, without texts that rules read in their turn."""
    plain = {
        name: _without_words(
            each,
            spec=_only(each.spec, OF_RECORD),
            status=_only(each.status, OF_RECORD_STATUS),
        )
        for name, each in found.items()
        if machine(name) in poison
    }
    return {**found, **plain} if plain else found


def _without(found: Mapping[str, Node], poison: frozenset[Subject]) -> Mapping[str, Node]:
    return {name: each for name, each in found.items() if machine(name) not in poison}


def _only(given: _Model, names: frozenset[str]) -> _Model:
    """The same with these fields only."""
    kept = {name: getattr(given, name) for name in given.model_fields_set & names}
    return type(given).model_construct(**kept)


def _without_words(found: Any, **changed: Any) -> Any:
    metadata = found.metadata
    return found.model_copy(update={"metadata": _only(metadata, OF_METADATA), **changed})


def _pool(pool: NodePool) -> NodePool:
    """A pool that counts; it is paused (`brakes.pauses`), and its machines are put aside."""
    kept = {name: getattr(pool.spec, name) for name in OF_POOL}
    spec = type(pool.spec).model_construct(**kept)
    made: NodePool = _without_words(pool, spec=spec, status=NodePoolStatus())
    return made
