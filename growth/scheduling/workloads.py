"""Owners of pods, namespaces and device classes: the fields that growth reads."""

from __future__ import annotations

import msgspec

from growth.scheduling.metadata import Metadata, ObservedCondition
from growth.scheduling.pod_spec import PodSpec


class PodTemplate(msgspec.Struct, frozen=True, gc=False):
    """The template of an owner's pods."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


class WorkloadSpec(msgspec.Struct, frozen=True, gc=False):
    """The number of pods that an owner wants."""

    replicas: int | None = None

    @property
    def wanted(self) -> int:
        """The number of pods; Kubernetes defaults to 1."""
        return 1 if self.replicas is None else self.replicas


class Workload(msgspec.Struct, frozen=True, gc=False):
    """A Deployment, ReplicaSet or StatefulSet: owners with a number of replicas."""

    metadata: Metadata = Metadata()
    spec: WorkloadSpec = WorkloadSpec()


class ReplicaSetSpec(WorkloadSpec, frozen=True, gc=False):
    """The number of pods and their template."""

    template: PodTemplate = PodTemplate()


class ReplicaSetStatus(msgspec.Struct, frozen=True, gc=False):
    """The conditions that its controller reports."""

    conditions: tuple[ObservedCondition, ...] = ()


class ReplicaSet(msgspec.Struct, frozen=True, gc=False):
    """A ReplicaSet."""

    metadata: Metadata = Metadata()
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()

    @property
    def is_refused(self) -> bool:
        """Whether its pods can't be created, for example because of a quota."""
        return any(
            each.type == "ReplicaFailure" and each.status == "True"
            for each in self.status.conditions
        )


class DeploymentSpec(ReplicaSetSpec, frozen=True, gc=False):
    """The same as in its ReplicaSet, and whether it is paused."""

    paused: bool = False


class Deployment(msgspec.Struct, frozen=True, gc=False):
    """A Deployment; it has one ReplicaSet, or two during a rollout."""

    metadata: Metadata = Metadata()
    spec: DeploymentSpec = DeploymentSpec()

    @property
    def is_refused(self) -> bool:
        """Whether it creates no pods now."""
        return self.spec.paused


class JobSpec(msgspec.Struct, frozen=True, gc=False):
    """The number of pods of a Job."""

    parallelism: int | None = None
    completions: int | None = None


class Job(msgspec.Struct, frozen=True, gc=False):
    """A Job."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()


class Namespace(msgspec.Struct, frozen=True, gc=False):
    """A namespace; affinity terms can select its labels."""

    metadata: Metadata = Metadata()


class DeviceClassSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The extended resource that the class provides, if any."""

    extended_resource_name: str | None = None


class DeviceClass(msgspec.Struct, frozen=True, gc=False):
    """A class of devices for resource claims."""

    metadata: Metadata = Metadata()
    spec: DeviceClassSpec = DeviceClassSpec()
