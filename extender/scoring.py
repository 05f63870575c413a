"""Which of the nodes that fit should get the pod: the one bought for it, else the fullest.

The scheduler by itself spreads pods out, so the machines bought for a group of pods would stay half
empty and none of the others would ever become idle. With the weight of the stanza one point here
outweighs all that its other rules say about two nodes that are alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

PLANNED: Final = 10
FULLEST: Final = 3
FULLER: Final = 2
EMPTIER: Final = 1
LEAVING: Final = 0


def scores(
    hosts: Iterable[str],
    *,
    planned: str,
    fullness: Mapping[str, float],
    leaving: Collection[str],
) -> dict[str, int]:
    """The score of each node. A node that isn't known counts as an empty one."""
    scored = dict.fromkeys(hosts, LEAVING)
    staying = {host: fullness.get(host, 0.0) for host in scored if host not in leaving}
    if staying:
        highest = max(staying.values())
        middle = (highest + min(staying.values())) / 2
        for host, full in staying.items():
            scored[host] = FULLEST if full == highest else FULLER if full >= middle else EMPTIER
    if planned in staying:
        scored[planned] = PLANNED
    return scored
