"""Machines of one plan begin to serve together, as far as that costs little.

Whoever waits takes the first machine that serves, whoever it was bought for: a plan for several
workloads is upset when its machines come one after the other, and more are bought for those who
find their places taken. So our start-up taint stays until the others of the plan are Ready, too: a
moment where machines are there at once, and where they boot three times as long as this one took.
When all are, it stays until the control plane has taken its own taints off, which a busy one does
node by node.
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
"""Seconds for which a Ready machine waits at least for one that isn't."""
BOOTS: Final = 4.0
"""What took longer to be Ready has booted. To bind a burst takes seconds, too: it begins with what
is there at once."""
TIMES: Final = 3.0
"""A machine that has booted waits so many times as long as it took."""
AT_MOST: Final = 5.0
"""Seconds for which it waits for the control plane's taints to go."""
OF_THE_CONTROL_PLANE: Final = frozenset(
    {"node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable"}
)


class Company(NamedTuple):
    """The machines on their way that were asked for within one second."""

    machines: int = 0
    workloads: frozenset[Owner] = frozenset()
    is_booting: bool = False
    """Whether one of them isn't Ready."""
    is_held: bool = False
    """Whether the control plane keeps pods off one that is."""


def companies(coming: Iterable[tuple[NodeRequest, Node | None]]) -> Mapping[int, Company]:
    """All machines on their way with their nodes, if they have joined; by the second."""
    found: defaultdict[int, Company] = defaultdict(Company)
    for request, node in coming:
        workloads = {Owner(w.kind, w.namespace, w.name) for w in request.spec.workloads}
        one = Company(1, frozenset(workloads), _is_booting(node), _is_held(node))
        found[_second(request)] = _joined(found[_second(request)], one)
    return dict(found)


def patience_of(
    request: NodeRequest, known: Mapping[int, Company], *, booted: float, longest: float
) -> float:
    """Seconds for which a machine waits for others, once it is Ready, for which it took so long."""
    found = Company()
    # The creations of one plan may lie on both sides of a full second.
    for second in range(_second(request) - 1, _second(request) + 2):
        found = _joined(found, known.get(second, Company()))
    # Where all are for one workload it doesn't matter which of its pods goes where.
    if found.machines <= 1 or len(found.workloads) <= 1:
        return 0.0
    held = AT_MOST if found.is_held else 0.0
    own = TIMES * booted if booted >= BOOTS else A_MOMENT
    return max(held, min(own, longest) if found.is_booting else 0.0)


def _joined(one: Company, other: Company) -> Company:
    return Company(
        one.machines + other.machines,
        one.workloads | other.workloads,
        one.is_booting or other.is_booting,
        one.is_held or other.is_held,
    )


def _second(request: NodeRequest) -> int:
    made_at = request.metadata.creation_timestamp
    return 0 if made_at is None else int(made_at.timestamp())


def _is_booting(node: Node | None) -> bool:
    return node is None or not node.is_ready


def _is_held(node: Node | None) -> bool:
    return (
        node is not None
        and node.is_ready
        and any(taint.key in OF_THE_CONTROL_PLANE for taint in node.spec.taints)
    )
