"""Machines of one plan begin to serve together, as far as that costs little time.

The scheduler puts waiting pods on the first machine that serves, whichever pods it was bought for.
If the machines of a plan for several workloads come one after the other, the plan breaks, and more
machines are bought for pods whose places are taken. So growth's start-up taint stays until the
other machines of the plan are Ready too: half a second if machines appear at once, and up to three
times as long as this one took if they have to boot. The taint also stays while one of the Ready
machines has taints of the control plane, which removes them in rounds of some seconds.

Even so one machine opens first, and for some milliseconds the scheduler puts every pod there. So
the machine with the most spare room opens first.
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
"""The least seconds that a Ready machine waits for one that isn't."""
BOOTS: Final = 4.0
"""A machine that took longer than this to be Ready has booted; a faster one appeared at once, and
should serve at once, because to bind a burst of pods takes seconds too."""
TIMES: Final = 3.0
"""A machine that has booted waits at most this many times as long as it took."""
AT_MOST: Final = 5.0
"""The most seconds after Ready to wait until the control plane has removed its own taints."""


class ComingMachine(NamedTuple):
    """A machine on its way."""

    request: NodeRequest
    node: Node | None = None
    """Its node, if it has joined."""
    ready_at: float = NEVER
    """The time in monotonic seconds."""


class ComingTogether(NamedTuple):
    """The machines on their way that were asked for within one second."""

    machines: int = 0
    workloads: frozenset[Owner] = frozenset()
    is_booting: bool = False
    """Whether one of them isn't Ready."""
    held_until: float = -NEVER
    """The end of the wait for the control plane to remove its taints from Ready machines."""


def companies(coming: Iterable[ComingMachine]) -> Mapping[int, ComingTogether]:
    """All machines on their way, by the second."""
    found: defaultdict[int, ComingTogether] = defaultdict(ComingTogether)
    for each in coming:
        second = second_of(each.request)
        found[second] = _joined(found[second], _alone(each))
    return dict(found)


class TogetherAt(NamedTuple):
    """When a Ready machine has waited long enough for the others, in monotonic seconds."""

    others_at: float
    """The end of the wait until they are Ready, too."""
    released_at: float
    """The end of the wait until the control plane has removed its taints from all of them."""

    @property
    def at(self) -> float:
        """The end of both."""
        return max(self)


def together_at(
    request: NodeRequest,
    known: Mapping[int, ComingTogether],
    *,
    ready_at: float,
    booted: float,
    longest: float,
) -> TogetherAt:
    """When a Ready machine, which took `booted` seconds, has waited long enough for the others."""
    found = ComingTogether()
    for second in of_one_plan(second_of(request)):
        found = _joined(found, known.get(second, ComingTogether()))
    # With a single workload it doesn't matter which of its pods goes where.
    if found.machines <= 1 or len(found.workloads) <= 1:
        return TogetherAt(ready_at, ready_at)
    patience = min(TIMES * booted, longest) if booted >= BOOTS else 0.0
    for_others = max(patience, min(A_MOMENT, longest)) if found.is_booting else 0.0
    # After waiting for the last machine to be Ready, also wait until it can serve.
    released_at = min(found.held_until, ready_at + patience + AT_MOST)
    return TogetherAt(ready_at + for_others, released_at)


def spare(request: NodeRequest) -> float:
    """The value of a machine's room that is promised to no pod, as a share of its price."""
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
