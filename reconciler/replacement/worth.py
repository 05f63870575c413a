"""What moving costs, in the same money as machines.

Prices have no unit here: a cluster may be paid in euros or in points. So a disturbance is counted
in minutes of the machine that it happens on. To evict a pod costs six minutes of what it uses of
its node: for about so long those who use it may notice, and what it asked for tells how much it
matters; an important one costs up to ten times as much. To start a machine costs two minutes of
it, in which old and new are both paid and one of them serves nobody.

That is paid back within the horizon of an hour, or nothing is moved; and what saves less than a
tenth isn't worth anybody's attention: prices and requests are never so exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

HORIZON: Final = 3600
"""Seconds: the unit in which prices are written, and machines billed."""
EVICTION: Final = 360
"""Seconds of its part of its node's price for each pod."""
LEAST_PART: Final = 1 / 110
"""Of a node: also a pod that asks for nothing is somebody's. So many pods a kubelet takes."""
START: Final = 120
"""Seconds of its own price for each new machine."""
LEAST_SHARE: Final = 10
"""At least one part in so many has to be saved of what the nodes cost that go."""
MOST_IMPORTANT: Final = 1_000_000
"""The priority from which on a pod counts ten times."""


def disturbance(price: int, node: Node, pods: Iterable[Pod]) -> int:
    """What the end of a node costs those who run there, in millionths over the horizon."""
    parts = sum(_part(pod, node) * _weight(pod) for pod in pods)
    return int(price * parts * EVICTION / HORIZON)


def pays(*, before: int, after: int, disturbed: int) -> bool:
    """Whether nodes of one price may go for machines of another, all in millionths an hour."""
    saving = before - after
    started = after * START // HORIZON
    return saving > disturbed + started and saving * LEAST_SHARE >= before


def _part(pod: Pod, node: Node) -> float:
    """How much of its node a pod uses, by what is scarcer there."""
    whole = node.allocatable
    shares = (pod.requests[name] / whole[name] for name in (CPU, MEMORY) if whole[name])
    return min(max((LEAST_PART, *shares)), 1.0)


def _weight(pod: Pod) -> float:
    """1 for an ordinary pod, 10 for the most important one."""
    return 1 + 9 * min(max(pod.spec.priority, 0), MOST_IMPORTANT) / MOST_IMPORTANT
