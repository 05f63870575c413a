"""Why a pool's nodes are kept: a count for each reason, and a line for each node without pods.

Status, metrics and command line agree, because all of them ask `growth.keeping`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

from growth.api.nodepool_status import MOST_KEPT, KeptNode, NodesForReason
from growth.keeping.marks import pool_of_node
from growth.keeping.wanting import KeepingReason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.nodepool import NodePool
    from growth.api.nodepool_status import NodePoolStatus
    from growth.keeping.wanting import Keeping
    from growth.scheduling.node import Node

LONGEST_OWNER: Final = 512
ORDER: Final = {reason: place for place, reason in enumerate(KeepingReason)}


def kept_status(
    keepings: Mapping[str, Keeping], nodes: Mapping[str, Node], pools: Mapping[str, NodePool]
) -> Mapping[str, Mapping[str, Any]]:
    """Two fields of the status of each pool that has nodes."""
    found: defaultdict[str, dict[str, Keeping]] = defaultdict(dict)
    for name, keeping in keepings.items():
        found[pool_of_node(nodes[name])][name] = keeping
    return {
        name: _fields(several, pools[name].status)
        for name, several in found.items()
        if name in pools
    }


def _fields(of_pool: Mapping[str, Keeping], before: NodePoolStatus) -> Mapping[str, Any]:
    counts_before = {each.reason: each for each in before.nodes_by_reason}
    lines_before = {each.node: each for each in before.kept}
    counts = Counter(each.reason for each in of_pool.values())
    lines = sorted(
        (ORDER[each.reason], name)
        for name, each in of_pool.items()
        if each.reason is not KeepingReason.OCCUPIED
    )
    return {
        "nodes_by_reason": tuple(
            NodesForReason.renewed(
                counts_before.get(reason.value), reason=reason.value, nodes=counts[reason]
            )
            for reason in sorted(counts, key=ORDER.__getitem__)
        ),
        "kept": tuple(
            _line(name, of_pool[name], lines_before.get(name)) for _, name in lines[:MOST_KEPT]
        ),
    }


NONE: Final[Mapping[str, Any]] = {"nodes_by_reason": (), "kept": ()}
"""The fields of a pool without nodes."""


def _line(name: str, keeping: Keeping, before: KeptNode | None) -> KeptNode:
    return KeptNode.renewed(
        before,
        node=name,
        reason=keeping.reason.value,
        owner=keeping.owner[:LONGEST_OWNER],
        until=keeping.until,
    )
