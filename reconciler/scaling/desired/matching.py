"""Which pods count as demand of a pool, and which pool counts a pod that several could serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.taints import Taint, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod


class PodGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What a pool tells the scheduler about its nodes."""

    name: str
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()

    def serves(self, pod: Pod) -> bool:
        """Whether the pool counts the pod.

        A pod that selects no labels only counts for a pool without labels: labelled nodes are meant
        for those who ask for them.
        """
        if untolerated(self.taints, pod.spec.tolerations) is not None:
            return False
        if not pod.spec.node_selector and pod.wanted_nodes.affinity is None:
            return not self.labels
        return pod.wanted_nodes.matches("", self.labels)


def pods_by_group(pods: Iterable[Pod], groups: Iterable[PodGroup]) -> Mapping[str, tuple[Pod, ...]]:
    """The pods that each pool could serve; pools without any are left out."""
    pods = tuple(pods)
    found = {group.name: tuple(pod for pod in pods if group.serves(pod)) for group in groups}
    return {name: served for name, served in found.items() if served}


PER_POD, PER_FREE_NODE, FOR_ROOM, FOR_PREFERENCE = 100, 50, 200, 100


def match_score(*, pods: int, desired: int, most: int, has_preference: bool) -> int:
    """How well a pool suits the pods that it could serve: the highest score gets them.

    Many pods, room below the maximum, and a preferred server type count in favour.
    """
    free = max(most - desired, 0)
    room = PER_FREE_NODE * free + FOR_ROOM if free else 0
    return PER_POD * pods + room + (FOR_PREFERENCE if has_preference else 0)
