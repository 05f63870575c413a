"""A pod without a node, with the values that the book derives from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.demand.detection import PodProgress, scheduled, standing
from growth.demand.pools import PoolChoice, wish_of
from growth.demand.siblings import Family, family_of
from growth.scheduling.metadata import ObservedCondition

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod


class WaitingPod(msgspec.Struct, frozen=True):
    """The values of a waiting pod that are needed again and again. It doesn't keep the pod."""

    uid: str
    namespace: str
    name: str
    version: str
    standing: PodProgress
    verdict: ObservedCondition | None
    """The PodScheduled condition."""
    nominated: str
    family: Family | None
    wish: PoolChoice


def waiting(pod: Pod) -> WaitingPod | None:
    """The values of a pod; None if it doesn't wait for a node."""
    here = standing(pod)
    if here is PodProgress.APART:
        return None
    metadata = pod.metadata
    return WaitingPod(
        uid=metadata.uid,
        namespace=metadata.namespace,
        name=metadata.name,
        version=metadata.resource_version,
        standing=here,
        verdict=scheduled(pod),
        nominated=pod.status.nominated_node_name,
        family=family_of(pod),
        wish=wish_of(pod),
    )
