"""How many nodes pending pods need, counted by their sums.

The sums are a lower bound, as pods can't be cut in two. Pods that still find no place afterwards
are pending in the next pass, and raise the number again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.resources import NOTHING, PODS, Resources, total

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod


class Deficit(msgspec.Struct, frozen=True, kw_only=True):
    """What is missing for pods that have no place."""

    requests: Resources = NOTHING
    pods: int = 0


def deficit_of(pods: Iterable[Pod]) -> Deficit:
    """The requests of the pods together; a pod that is named twice counts once."""
    distinct = {pod.metadata.uid or pod.name: pod for pod in pods}
    return Deficit(requests=total(pod.requests for pod in distinct.values()), pods=len(distinct))


def nodes_needed(deficit: Deficit, room: Resources) -> int:
    """The number of nodes with this room for pods; at least one if any pod waits."""
    if not deficit.pods:
        return 0
    wanted = {**deficit.requests.amounts, PODS: deficit.pods}
    shares = (-(-amount // room[name]) for name, amount in wanted.items() if room[name] > 0)
    return max(1, *shares)
