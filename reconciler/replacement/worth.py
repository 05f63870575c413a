"""The cost of moving pods, in the same money as machines.

Prices have no unit here: a cluster may be paid in euros or in points. So a disruption is measured
in minutes of machines. An eviction costs six minutes of what an average pod on that node costs: its
users may notice it for about that long, whatever its size. So it is better to move a few large pods
than many small ones. An important pod costs up to ten times as much. Starting a machine costs two
minutes of its price, during which old and new are both paid and only one of them serves.

A swap has to pay this back within the horizon, an hour at most. It also has to save at least a
tenth, because prices and requests are never more exact than that. For the same reason, a cluster
that costs at most a tenth more than its lower bound is mostly left alone: there an eviction costs
two hours of a pod instead of six minutes.
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
"""Seconds of its share of its node's price, for each pod."""
LEAST_PART: Final = 1 / 110
"""The least share of a node for a pod, even without requests; 110 is a kubelet's default limit."""
START: Final = 120
"""Seconds of its own price for each new machine."""
LEAST_SHARE: Final = 10
"""A swap has to save at least one part in this many of the price of the nodes that go."""
NEAR: Final = 1.1
"""A cluster is cheap enough if it costs at most this many times its lower bound."""
RELUCTANCE: Final = 20.0
"""In such a cluster, an eviction costs this many times as much."""
MOST_IMPORTANT: Final = 1_000_000
"""From this priority on, a pod counts ten times."""


class OccupiedNode(NamedTuple):
    """A node with the pods that would move, and its price in millionths per hour."""

    price: int
    node: Node
    pods: Sequence[Pod]


def disturbances(nodes: Sequence[OccupiedNode], *, horizon: float = HORIZON) -> list[int]:
    """What the removal of each node costs by disrupting its pods, in millionths per hour.

    The cost is paid once and spread over the horizon.
    """
    used = sum(each.price * _part(pod, each.node) for each in nodes for pod in each.pods)
    eviction = used / max(1, sum(len(each.pods) for each in nodes)) * EVICTION / horizon
    return [int(eviction * sum(_weight(pod) for pod in each.pods)) for each in nodes]


def pays(*, before: int, after: int, disturbed: int, horizon: float = HORIZON) -> bool:
    """Whether the saving is worth the disruption, all in millionths per hour."""
    saving = before - after
    started = after * START / horizon
    return saving > disturbed + started and saving * LEAST_SHARE >= before


def _part(pod: Pod, node: Node) -> float:
    """A pod's share of its node, by the scarcer resource."""
    whole = node.allocatable
    shares = (pod.requests[name] / whole[name] for name in (CPU, MEMORY) if whole[name])
    return min(max((LEAST_PART, *shares)), 1.0)


def _weight(pod: Pod) -> float:
    """1 for an ordinary pod, 10 for the most important one."""
    return 1 + 9 * min(max(pod.spec.priority, 0), MOST_IMPORTANT) / MOST_IMPORTANT
