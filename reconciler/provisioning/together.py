"""Machines of one plan begin to serve together, as far as that costs next to nothing.

Whoever waits takes the first machine that serves, whoever it was bought for: a plan for several
workloads is upset when its machines come one after the other. How long they boot isn't ours to say.
But the last hindrance of those that are Ready goes at once: our start-up taint stays until the
control plane has taken its own off all of them, which a busy one does node by node. For others that
aren't Ready yet it stays a moment.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.scheduling.owners import Owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node

A_MOMENT: Final = 0.5
"""Seconds for which a Ready machine waits for one that isn't."""
AT_MOST: Final = 5.0
"""Seconds for which it waits for the control plane's taints to go."""
OF_THE_CONTROL_PLANE: Final = frozenset(
    {"node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable"}
)


class Company(NamedTuple):
    """The machines on their way that were asked for within one second."""

    machines: int = 0
    workloads: frozenset[Owner] = frozenset()
    patience: float = 0.0
    """Seconds for which the one among them is waited for that needs it most."""


def companies(coming: Iterable[tuple[NodeRequest, Node | None]]) -> Mapping[int, Company]:
    """All machines on their way with their nodes, if they have joined; by the second."""
    found: defaultdict[int, Company] = defaultdict(Company)
    for request, node in coming:
        workloads = {Owner(w.kind, w.namespace, w.name) for w in request.spec.workloads}
        one = Company(1, frozenset(workloads), _patience(node))
        found[_second(request)] = _joined(found[_second(request)], one)
    return dict(found)


def patience_of(request: NodeRequest, known: Mapping[int, Company]) -> float:
    """Seconds for which a machine of this request waits for others, once it is Ready."""
    found = Company()
    # The creations of one plan may lie on both sides of a full second.
    for second in range(_second(request) - 1, _second(request) + 2):
        found = _joined(found, known.get(second, Company()))
    # Where all are for one workload it doesn't matter which of its pods goes where.
    is_mixed = found.machines > 1 and len(found.workloads) > 1
    return found.patience if is_mixed else 0.0


def _joined(one: Company, other: Company) -> Company:
    return Company(
        one.machines + other.machines,
        one.workloads | other.workloads,
        max(one.patience, other.patience),
    )


def _second(request: NodeRequest) -> int:
    made_at = request.metadata.creation_timestamp
    return 0 if made_at is None else int(made_at.timestamp())


def _patience(node: Node | None) -> float:
    if node is None or not node.is_ready:
        return A_MOMENT
    is_held = any(taint.key in OF_THE_CONTROL_PLANE for taint in node.spec.taints)
    return AT_MOST if is_held else 0.0
