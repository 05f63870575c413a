"""Machines of one plan begin to serve together, as far as that costs little.

Whoever waits takes the first machine that serves, whoever it was bought for: a plan for several
workloads is upset when its machines come one after the other, and more are bought for those who
find their places taken. So our start-up taint stays until the others of the plan are Ready, too: a
moment where machines are there at once, and where they boot three times as long as this one took.
It also stays while the control plane's own taints are on one of those that are Ready: it takes them
off in rounds of some seconds, so the last one bears them longest.

Even then one opens first, and in the milliseconds until the next one does the scheduler sends there
whoever comes. So the first is the one on which most room is left over.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.demand.one_plan import of_one_plan, second_of
from growth.keeping.marks import is_held_back
from growth.scheduling.resources import CPU, MEMORY, parse_resources
from reconciler.core.decision import NEVER
from reconciler.facts.seats import seats_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node
    from growth.scheduling.owners import Owner

A_MOMENT: Final = 0.5
"""Seconds for which a Ready machine waits at least for one that isn't."""
BOOTS: Final = 4.0
"""What took longer to be Ready has booted. To bind a burst takes seconds, too: it begins with what
is there at once."""
TIMES: Final = 3.0
"""A machine that has booted waits so many times as long as it took."""
AT_MOST: Final = 5.0
"""Seconds after a machine was Ready in which the control plane's taints on it are waited for."""


class ComingMachine(NamedTuple):
    """A machine on its way."""

    request: NodeRequest
    node: Node | None = None
    """If it has joined."""
    ready_at: float = NEVER
    """In monotonic seconds."""


class ComingTogether(NamedTuple):
    """The machines on their way that were asked for within one second."""

    machines: int = 0
    workloads: frozenset[Owner] = frozenset()
    is_booting: bool = False
    """Whether one of them isn't Ready."""
    held_until: float = -NEVER
    """How long it is waited for the control plane, which keeps pods off some that are Ready."""


def companies(coming: Iterable[ComingMachine]) -> Mapping[int, ComingTogether]:
    """All machines on their way, by the second."""
    found: defaultdict[int, ComingTogether] = defaultdict(ComingTogether)
    for each in coming:
        second = second_of(each.request)
        found[second] = _joined(found[second], _alone(each))
    return dict(found)


def together_at(
    request: NodeRequest,
    known: Mapping[int, ComingTogether],
    *,
    ready_at: float,
    booted: float,
    longest: float,
) -> float:
    """When a machine that is Ready, for which it took so long, has waited for the others."""
    found = ComingTogether()
    for second in of_one_plan(second_of(request)):
        found = _joined(found, known.get(second, ComingTogether()))
    # Where all are for one workload it doesn't matter which of its pods goes where.
    if found.machines <= 1 or len(found.workloads) <= 1:
        return ready_at
    patience = min(TIMES * booted, longest) if booted >= BOOTS else 0.0
    for_others = max(patience, min(A_MOMENT, longest)) if found.is_booting else 0.0
    # Who has waited for the last one to be Ready waits for it to serve, too.
    return max(ready_at + for_others, min(found.held_until, ready_at + patience + AT_MOST))


def spare(request: NodeRequest) -> float:
    """What the room of a machine is worth that is promised to nobody, at its price."""
    whole, promised = parse_resources(request.spec.resources), Counter[str]()
    for each in request.spec.workloads:
        for name, amount in parse_resources(each.requests).amounts.items():
            promised[name] += each.pods * amount
    shares = [promised[name] / whole[name] for name in (CPU, MEMORY) if whole[name]]
    return float(request.spec.price) * (1.0 - max(shares, default=1.0))


def _alone(coming: ComingMachine) -> ComingTogether:
    request, node, ready_at = coming
    is_booting = node is None or not node.is_ready
    is_held = node is not None and node.is_ready and is_held_back(node)
    return ComingTogether(
        machines=1,
        workloads=frozenset(seats_of(request)),
        is_booting=is_booting,
        held_until=ready_at + AT_MOST if is_held else -NEVER,
    )


def _joined(one: ComingTogether, other: ComingTogether) -> ComingTogether:
    return ComingTogether(
        one.machines + other.machines,
        one.workloads | other.workloads,
        one.is_booting or other.is_booting,
        max(one.held_until, other.held_until),
    )
