"""Whether machines are bought twice for the same pods, counted in machines.

A pod whose machine was filled by others waits for a second one, and nobody can help it. Where that
happens often, machines are bought for pods that others hold a place for. What replaces a node, or
keeps a pool's minimum, is bought for no pod.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from growth.api.wellknown import REPLACES_ANNOTATION

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from reconciler.simulation.cloud import SimulatedCloud

FEW: Final = 2
SECOND: Final = 0.4
"""For each machine that is bought once, so many more at most; of some twenty hours one had 0.31."""


class Purchases:
    """What was bought for which pods."""

    def __init__(self, cloud: SimulatedCloud) -> None:
        self._cloud = cloud
        self.second = 0
        """Machines for pods each of which had one that was there."""
        self._seconds: set[str] = set()
        """The requests for such machines."""
        self._machines: defaultdict[str, list[str]] = defaultdict(list)
        """By the uid of the pods that they were bought for."""

    def intended(self, request: NodeRequest) -> None:
        """A machine is to be bought."""
        replaces = REPLACES_ANNOTATION in request.metadata.annotations
        pods = () if replaces else request.spec.pods
        if pods and all(self._has_machine(pod.uid) for pod in pods):
            self._seconds.add(request.name)

    def made(self, request: NodeRequest) -> None:
        """It was bought."""
        self.second += request.name in self._seconds
        for pod in request.spec.pods:
            self._machines[pod.uid].append(request.name)

    def complaint(self, *, waited: int) -> str:
        """What is wrong with all that was bought for so many pods; empty if nothing is."""
        once = self._cloud.bought - self.second
        if once > waited + self._cloud.lost + FEW:
            return f"{once} bought, and {waited} pods waited for one"
        if self.second <= SECOND * once + FEW:
            return ""
        return f"{self.second} of {self._cloud.bought} bought for pods that had a machine"

    def _has_machine(self, uid: str) -> bool:
        return any(name in self._cloud.machines for name in self._machines[uid])
