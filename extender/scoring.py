"""Which of the fitting nodes should get the pod: the one bought for it, or else the fullest.

Nodes with places that are promised to other pods come last, like nodes that are being removed: a
pod that takes such a place causes another purchase. If all nodes are promised, the best one is that
on which the other pods would lack least.

By default the scheduler spreads pods. Then machines that were bought for a group of pods would stay
half empty, and the other nodes would never become idle. With the weight in our extender
configuration, one point here outweighs all other scores of two similar nodes.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

PLANNED: Final = 10
FULLEST: Final = 3
FULLER: Final = 2
EMPTIER: Final = 1
LEAVING: Final = 0
PROMISED: Final = 0


def scores(
    hosts: Iterable[str],
    *,
    planned: str,
    fullness: Mapping[str, float],
    leaving: AbstractSet[str],
    lacking: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, int]:
    """The score of each node; an unknown node counts as empty.

    `lacking` has the share of a node that others would lack, for nodes that are promised to them.
    """
    asked = {host: fullness.get(host, 0.0) for host in hosts}
    if lacking and asked.keys() <= lacking.keys() | leaving:
        # All nodes are promised, so the one on which others lack least is treated as the fullest.
        asked = {host: -lacking.get(host, 0.0) for host in asked}
        lacking = {}
    staying = [full for host, full in asked.items() if host not in leaving | lacking.keys()]
    highest = max(staying, default=0.0)
    middle = (highest + min(staying, default=0.0)) / 2
    scored = {
        host: FULLEST if full == highest else FULLER if full >= middle else EMPTIER
        for host, full in asked.items()
    }
    scored.update(dict.fromkeys(lacking.keys() & asked.keys(), PROMISED))
    scored.update(dict.fromkeys(leaving & asked.keys(), LEAVING))
    if planned in asked and planned not in leaving:
        scored[planned] = PLANNED
    return scored


def better_scores(scored: Mapping[str, int]) -> dict[str, int]:
    """The scores without the lowest ones: to the scheduler, a node without a score has 0."""
    # The scheduler needs longer to read a score than we to compute it (1.1 ms for a thousand
    # nodes), and places no pod meanwhile. Most nodes usually have the lowest score.
    worst = min(scored.values(), default=LEAVING)
    return {host: score for host, score in scored.items() if score > worst or score == PLANNED}
