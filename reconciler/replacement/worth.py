"""What moving costs, in the same money as machines.

Prices have no unit here: a cluster may be paid in euros or in points. So a disturbance is counted
in minutes of machines. To evict a pod costs six minutes of what a pod uses there on average: for
about so long those who use it may notice, whether it is large or small, so it is better to move
few large ones than many small ones; an important one costs up to ten times as much. To start a
machine costs two minutes of it, in which old and new are both paid and one of them serves nobody.

That is paid back within the horizon, an hour at the most, or nothing is moved; and what saves less
than a tenth isn't worth anybody's attention: prices and requests are never so exact. For the same
reason a cluster that costs no more than a tenth above the least it could cost is left alone for the
most part: there an eviction costs two hours of a pod instead of six minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

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
NEAR: Final = 1.1
"""A cluster is cheap enough that costs no more than so many times the least it could cost."""
RELUCTANCE: Final = 20.0
"""So many times as much an eviction costs there."""
MOST_IMPORTANT: Final = 1_000_000
"""The priority from which on a pod counts ten times."""


class OccupiedNode(NamedTuple):
    """A node with what would be moved from it, and its price in millionths an hour."""

    price: int
    node: Node
    pods: Sequence[Pod]


def disturbances(nodes: Sequence[OccupiedNode], *, horizon: float = HORIZON) -> list[int]:
    """What the end of each of these nodes costs those who run there, in millionths an hour.

    It is paid once, and what it is paid for lasts for as long as the horizon.
    """
    used = sum(each.price * _part(pod, each.node) for each in nodes for pod in each.pods)
    eviction = used / max(1, sum(len(each.pods) for each in nodes)) * EVICTION / horizon
    return [int(eviction * sum(_weight(pod) for pod in each.pods)) for each in nodes]


def pays(*, before: int, after: int, disturbed: int, horizon: float = HORIZON) -> bool:
    """Whether nodes of one price may go for machines of another, all in millionths an hour."""
    saving = before - after
    started = after * START / horizon
    return saving > disturbed + started and saving * LEAST_SHARE >= before


def _part(pod: Pod, node: Node) -> float:
    """How much of its node a pod uses, by what is scarcer there."""
    whole = node.allocatable
    shares = (pod.requests[name] / whole[name] for name in (CPU, MEMORY) if whole[name])
    return min(max((LEAST_PART, *shares)), 1.0)


def _weight(pod: Pod) -> float:
    """1 for an ordinary pod, 10 for the most important one."""
    return 1 + 9 * min(max(pod.spec.priority, 0), MOST_IMPORTANT) / MOST_IMPORTANT
