"""Counts machines that are bought twice for the same pods.

If other pods fill a pod's machine, it needs a second one, which can't be avoided. But if this
happens often, machines are bought for pods that already have a place. A machine that replaces a
node, or that a minimum requires, is for no pod. A replacement also happens where no pod has ever
waited, so the number of waiting pods is no limit for it.
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
"""The most second machines per first one; in about twenty simulated hours, the highest was 0.31."""


class Purchases:
    """The machines that were bought for each pod."""

    def __init__(self, cloud: SimulatedCloud) -> None:
        self._cloud = cloud
        self.second = 0
        """The number of machines for pods that all had an existing one."""
        self._seconds: set[str] = set()
        """The requests for such machines."""
        self._swapped = 0
        """The number of machines that replaced nodes."""
        self._swaps: set[str] = set()
        """The requests for those."""
        self._machines: defaultdict[str, list[str]] = defaultdict(list)
        """The machines of each pod, by the uid of the pod."""

    def intended(self, request: NodeRequest) -> None:
        """Handle a new request."""
        replaces = REPLACES_ANNOTATION in request.metadata.annotations
        if replaces:
            self._swaps.add(request.name)
        pods = () if replaces else request.spec.pods
        if pods and all(self._has_machine(pod.uid) for pod in pods):
            self._seconds.add(request.name)

    def made(self, request: NodeRequest) -> None:
        """Handle a created machine."""
        self.second += request.name in self._seconds
        self._swapped += request.name in self._swaps
        for pod in request.spec.pods:
            self._machines[pod.uid].append(request.name)

    def complaint(self, *, waited: int) -> str:
        """What is wrong with all purchases, given the number of waiting pods; "" if nothing is."""
        first = self._cloud.bought - self.second
        once = first - self._swapped
        if once > waited + self._cloud.lost + self._cloud.failed + FEW:
            return f"{once} bought, and {waited} pods waited for one"
        if self.second <= SECOND * first + FEW:
            return ""
        return f"{self.second} of {self._cloud.bought} bought for pods that had a machine"

    def _has_machine(self, uid: str) -> bool:
        found = (self._cloud.machines.get(name) for name in self._machines[uid])
        return any(machine is not None and machine.failed is None for machine in found)
