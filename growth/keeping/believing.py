"""What growth believes of a Node: what its record says, and of growth's own words nothing else.

A kubelet writes labels and annotations of its Node, and so may many other programs. So every rule,
and every command, sees Nodes through this door: labels and annotations below `growth.dev/` come
from the record of the machine, and a Node without a record has none of them but the pool that pods
may select. What belongs to people stays, and so do all other labels and taints, because the
scheduler sees them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    CORDONED_ANNOTATION,
    CURRENCY_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
    PAUSED_REASON_ANNOTATION,
    PAUSED_UNTIL_ANNOTATION,
    PLAN_ANNOTATION,
    POOL_LABEL,
    PRICE_ANNOTATION,
    REPLACES_ANNOTATION,
    RESERVED_PREFIX,
    SCALE_DOWN_AT_ANNOTATION,
    SERVER_ID_ANNOTATION,
    TEMPLATE_ANNOTATION,
)
from growth.api.written import write_time
from growth.scheduling.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.noderecord import NodeRecord
    from growth.scheduling.cluster import Object
    from growth.scheduling.taints import Taint

OF_PEOPLE: Final = frozenset(
    {DO_NOT_DISRUPT_ANNOTATION, PAUSED_UNTIL_ANNOTATION, PAUSED_REASON_ANNOTATION}
)
"""Annotations below growth's prefix that people write."""
UNBELIEVED: Final = "unbelieved."
"""Before the key of a taint of growth's on a Node without a record: it keeps pods off as any other
taint does, and no rule takes it for a mark of growth."""


def believed(node: Node, record: NodeRecord | None) -> Node:
    """The Node that rules see; `record` is the one of its name, if there is any."""
    if record is None or not is_node_of(node, record):
        return _as_stranger(node)
    labels = {**_of_others(node.labels), **recorded_labels(record)}
    annotations = {
        **_of_others(node.metadata.annotations),
        **_cordoned(node),
        **recorded_annotations(record),
    }
    return _with(node, labels=labels, annotations=annotations, taints=node.spec.taints)


def as_believed(seen: Iterable[Object], records: Mapping[str, NodeRecord]) -> Iterator[Object]:
    """What was read from a cluster, with Nodes as the reconciler sees them.

    They stay as they are written if there is no record at all: the reconciler there writes none.
    """
    for each in seen:
        if isinstance(each, Node) and records:
            yield believed(each, records.get(each.name))
        else:
            yield each


def _cordoned(node: Node) -> Mapping[str, str]:
    """Why growth has cordoned the machine's Node, where the record doesn't say so yet.

    The Node may be seen before its record, although the record is written first. Growth's own
    cordon would look like a person's. A Node that claims it falsely only loses its own cordon.
    """
    said = node.metadata.annotations.get(CORDONED_ANNOTATION)
    return {} if said is None else {CORDONED_ANNOTATION: said}


def is_node_of(node: Node, record: NodeRecord) -> bool:
    """Whether this Node is the machine's: known by its UID, or by its name and providerID together.

    An empty providerID contradicts nothing: some clouds' controllers write it later.
    """
    joined = record.status.node
    if node.name != record.name:
        return False
    if joined is not None and joined.uid == node.metadata.uid:
        return True
    return _names(node.spec.provider_id, record.spec.node_id)


def claims_machine(node: Node, record: NodeRecord) -> bool:
    """Whether a Node that isn't the machine's bears its name, or its ID in spec.providerID."""
    if is_node_of(node, record):
        return False
    provider_id = node.spec.provider_id
    return node.name == record.name or (
        provider_id != "" and _names(provider_id, record.spec.node_id)
    )


def _names(provider_id: str, node_id: str) -> bool:
    """Whether a providerID is about a machine: clouds write the ID at the end, in various forms."""
    return provider_id in {"", node_id} or provider_id.endswith(f"/{node_id}")


def recorded_labels(record: NodeRecord) -> Mapping[str, str]:
    """Growth's labels of the machine's Node."""
    return {
        POOL_LABEL: record.spec.pool,
        NODE_REQUEST_LABEL: record.name,
        INSTANCE_TYPE_LABEL: record.spec.server_type.canonical,
        MANAGED_BY_LABEL: MANAGED_BY,
    }


def recorded_annotations(record: NodeRecord) -> Mapping[str, str]:
    """Growth's annotations of the machine's Node."""
    spec, status = record.spec, record.status
    goes_at = None if status.goes_at is None else write_time(status.goes_at)
    found = {
        PRICE_ANNOTATION: str(spec.price),
        BOUGHT_AT_ANNOTATION: write_time(spec.bought_at),
        CURRENCY_ANNOTATION: spec.currency or None,
        SERVER_ID_ANNOTATION: spec.node_id,
        PLAN_ANNOTATION: spec.plan,
        TEMPLATE_ANNOTATION: status.template or spec.template,
        REPLACES_ANNOTATION: None if status.swap_ended else spec.replaces,
        SCALE_DOWN_AT_ANNOTATION: goes_at,
        CORDONED_ANNOTATION: status.cordoned,
    }
    return {key: value for key, value in found.items() if value is not None}


def _as_stranger(node: Node) -> Node:
    # Pods select nodes by the label of the pool, and kube-scheduler reads it on any node. Alone it
    # makes no machine of growth's: that takes the label of who manages the node, too.
    seen_by_pods = {key: node.labels[key] for key in (POOL_LABEL,) if key in node.labels}
    return _with(
        node,
        labels={**_of_others(node.labels), **seen_by_pods},
        annotations=_of_others(node.metadata.annotations),
        taints=tuple(map(_unbelieved, node.spec.taints)),
    )


def _of_others(words: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in words.items()
        if key in OF_PEOPLE or not key.startswith(RESERVED_PREFIX)
    }


def _unbelieved(taint: Taint) -> Taint:
    if not taint.key.startswith(RESERVED_PREFIX):
        return taint
    return msgspec.structs.replace(taint, key=f"{UNBELIEVED}{taint.key}")


def _with(
    node: Node, *, labels: dict[str, str], annotations: dict[str, str], taints: tuple[Taint, ...]
) -> Node:
    """The Node with these words; itself where nothing changes, as its derived values are kept."""
    metadata, spec = node.metadata, node.spec
    if labels != metadata.labels or annotations != metadata.annotations:
        metadata = msgspec.structs.replace(metadata, labels=labels, annotations=annotations)
    if taints != spec.taints:
        spec = msgspec.structs.replace(spec, taints=taints)
    if metadata is node.metadata and spec is node.spec:
        return node
    return msgspec.structs.replace(node, metadata=metadata, spec=spec)
