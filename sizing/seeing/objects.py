"""Pods and workloads: the fields that sizes are decided on, and values derived from them.

The cache replaces an object when it changes, so each value is computed once per change.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from growth.foreign_text import time_or_none
from growth.scheduling.metadata import Metadata, ObservedCondition
from growth.scheduling.quantity import Amount
from growth.scheduling.resources import CPU, MEMORY, parse_one
from growth.scheduling.selectors import LabelSelector, Selector, compiled_selector
from sizing.rule.amounts import Sized
from sizing.rule.applying import ResizeProgress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

RESIZED: Final = (CPU, MEMORY)
ENDED: Final = frozenset({"Succeeded", "Failed"})


class ManagedField(msgspec.Struct, frozen=True, gc=False):
    """Who has written fields of an object, and by which subresource."""

    manager: str = ""
    subresource: str = ""


class SizedPodMetadata(Metadata, frozen=True, gc=False, rename="camel"):
    """Metadata with the managers of fields."""

    managed_fields: tuple[ManagedField, ...] = ()


class ContainerAmounts(msgspec.Struct, frozen=True, gc=False):
    """Requests and limits of a container."""

    requests: dict[str, Amount] = {}
    limits: dict[str, Amount] = {}


class ContainerInPod(msgspec.Struct, frozen=True, gc=False):
    """A container in a pod's spec."""

    name: str
    resources: ContainerAmounts | None = None


class Terminated(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """How a container has ended."""

    reason: str = ""
    finished_at: str | None = None


class ContainerState(msgspec.Struct, frozen=True, gc=False):
    """The state of a container."""

    terminated: Terminated | None = None


class ContainerInStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A container in a pod's status."""

    name: str = ""
    resources: ContainerAmounts | None = None
    """What the kubelet has given it."""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class SpecOfSizedPod(msgspec.Struct, frozen=True, gc=False):
    """The spec of a pod."""

    containers: tuple[ContainerInPod, ...] = ()


class StatusOfSizedPod(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The status of a pod."""

    phase: str = ""
    conditions: tuple[ObservedCondition, ...] = ()
    container_statuses: tuple[ContainerInStatus, ...] = ()


class PodOfWorkload(msgspec.Struct, frozen=True, dict=True):
    """A pod, as far as its size is concerned."""

    metadata: SizedPodMetadata = SizedPodMetadata()
    spec: SpecOfSizedPod = SpecOfSizedPod()
    status: StatusOfSizedPod = StatusOfSizedPod()

    @property
    def runs(self) -> bool:
        """Whether it is one of its workload's replicas."""
        return self.metadata.deletion_timestamp is None and self.status.phase not in ENDED

    def is_of(self, kind: str, workload: Metadata) -> bool:
        """Whether a workload has created it. A pod can have the same labels by chance."""
        controller = self.metadata.controller
        if controller is None:
            return False
        if kind == "Deployment":
            # Its ReplicaSets are named after it, with a hash of the template.
            is_named = controller.name.rpartition("-")[0] == workload.name
            return controller.kind == "ReplicaSet" and is_named
        return controller.uid == workload.uid

    @cached_property
    def requests(self) -> Mapping[Sized, int]:
        """The requests of each container."""
        return dict(_amounts((each.name, each.resources, "requests") for each in self._asked))

    @cached_property
    def limits(self) -> Mapping[Sized, int]:
        """The limits of each container."""
        return dict(_amounts((each.name, each.resources, "limits") for each in self._asked))

    @property
    def _asked(self) -> tuple[ContainerInPod, ...]:
        return self.spec.containers

    @cached_property
    def is_ready(self) -> bool:
        """Whether its Ready condition is true."""
        return self._condition("Ready") is not None

    @cached_property
    def tells_its_size(self) -> bool:
        """Whether its kubelet says what each container has."""
        told = {each.name for each in self.status.container_statuses if each.resources is not None}
        return all(each.name in told for each in self.spec.containers)

    @cached_property
    def progress(self) -> ResizeProgress:
        """What has become of its last resize."""
        pending = self._condition("PodResizePending")
        if pending is not None:
            is_possible = pending.reason == "Deferred"
            return ResizeProgress.DEFERRED if is_possible else ResizeProgress.INFEASIBLE
        if self._condition("PodResizeInProgress") is not None or self._has_other_than_asked:
            return ResizeProgress.IN_PROGRESS
        return ResizeProgress.DONE

    @cached_property
    def progress_since(self) -> datetime | None:
        """Since when a condition says so."""
        found = self._condition("PodResizePending") or self._condition("PodResizeInProgress")
        return time_or_none(found.last_transition_time) if found else None

    def ran_out_after(self, moment: datetime | None) -> bool:
        """Whether a container was killed for lack of memory after this moment."""
        return any(moment is None or at > moment for at in self._kills)

    @cached_property
    def _kills(self) -> tuple[datetime, ...]:
        ends = (
            state.terminated
            for each in self.status.container_statuses
            for state in (each.state, each.last_state)
        )
        kills = (each for each in ends if each is not None and each.reason == "OOMKilled")
        return tuple(at for each in kills if (at := time_or_none(each.finished_at)) is not None)

    @property
    def _has_other_than_asked(self) -> bool:
        """Whether the kubelet hasn't given it yet what it asks for."""
        known = [each for each in self.status.container_statuses if each.resources is not None]
        names = {each.name for each in known}
        given = dict(_amounts((each.name, each.resources, "requests") for each in known))
        asked = {part: n for part, n in self.requests.items() if part.container in names}
        return any(given.get(part, amount) != amount for part, amount in asked.items())

    def _condition(self, name: str) -> ObservedCondition | None:
        return next(
            (each for each in self.status.conditions if (each.type, each.status) == (name, "True")),
            None,
        )


def _amounts(
    containers: Iterable[tuple[str, ContainerAmounts | None, str]],
) -> Iterator[tuple[Sized, int]]:
    for container, resources, which in containers:
        written: Mapping[str, Amount] = getattr(resources, which) if resources else {}
        for name in RESIZED:
            if name in written:
                yield Sized(container, name), parse_one(name, written[name])


class UpdateStrategy(msgspec.Struct, frozen=True, gc=False):
    """How a StatefulSet replaces its pods."""

    type: str = ""


class SpecOfWorkload(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The spec of a Deployment, StatefulSet or ReplicaSet."""

    replicas: int | None = None
    paused: bool = False
    selector: LabelSelector | None = None
    update_strategy: UpdateStrategy = UpdateStrategy()


class StatusOfWorkload(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The status of one of them."""

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""


class ScaledWorkload(msgspec.Struct, frozen=True, dict=True):
    """A Deployment, StatefulSet or ReplicaSet."""

    metadata: Metadata = Metadata()
    spec: SpecOfWorkload = SpecOfWorkload()
    status: StatusOfWorkload = StatusOfWorkload()

    @property
    def replicas(self) -> int:
        """How many pods it should have; unset means one."""
        return 1 if self.spec.replicas is None else self.spec.replicas

    @cached_property
    def selector(self) -> Selector:
        """Which pods are its own."""
        return compiled_selector(self.spec.selector)

    def is_rolling_out(self, kind: str) -> bool:
        """Whether its controller is replacing pods, or hasn't seen its last change yet."""
        status = self.status
        if status.observed_generation < self.metadata.generation:
            return True
        if kind == "Deployment":
            return status.updated_replicas < status.replicas
        is_by_hand = self.spec.update_strategy.type == "OnDelete"
        return not is_by_hand and status.current_revision != status.update_revision
