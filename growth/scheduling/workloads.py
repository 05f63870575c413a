"""Who makes pods, and what surrounds them: owners, namespaces, device classes."""

from __future__ import annotations

import msgspec

from growth.scheduling.metadata import Metadata, ObservedCondition
from growth.scheduling.pod_spec import PodSpec


class PodTemplate(msgspec.Struct, frozen=True, gc=False):
    """What each pod of an owner looks like."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()


class WorkloadSpec(msgspec.Struct, frozen=True, gc=False):
    """How many pods are wanted."""

    replicas: int | None = None

    @property
    def wanted(self) -> int:
        """The number; where none is said, Kubernetes takes one."""
        return 1 if self.replicas is None else self.replicas


class Workload(msgspec.Struct, frozen=True, gc=False):
    """A Deployment, ReplicaSet or StatefulSet: owners with a number of replicas."""

    metadata: Metadata = Metadata()
    spec: WorkloadSpec = WorkloadSpec()


class ReplicaSetSpec(WorkloadSpec, frozen=True, gc=False):
    """How many, and what they look like."""

    template: PodTemplate = PodTemplate()


class ReplicaSetStatus(msgspec.Struct, frozen=True, gc=False):
    """How far its controller is."""

    conditions: tuple[ObservedCondition, ...] = ()


class ReplicaSet(msgspec.Struct, frozen=True, gc=False):
    """So many like pods."""

    metadata: Metadata = Metadata()
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()

    @property
    def is_refused(self) -> bool:
        """Whether its pods are refused, by a quota for example: it won't have what it wants."""
        return any(
            each.type == "ReplicaFailure" and each.status == "True"
            for each in self.status.conditions
        )


class DeploymentSpec(ReplicaSetSpec, frozen=True, gc=False):
    """What its ReplicaSet will say."""

    paused: bool = False


class Deployment(msgspec.Struct, frozen=True, gc=False):
    """What is shown as one ReplicaSet, or as two while the one takes over from the other."""

    metadata: Metadata = Metadata()
    spec: DeploymentSpec = DeploymentSpec()

    @property
    def is_refused(self) -> bool:
        """Whether nothing is made of it now."""
        return self.spec.paused


class JobSpec(msgspec.Struct, frozen=True, gc=False):
    """How many pods run at once."""

    parallelism: int | None = None
    completions: int | None = None


class Job(msgspec.Struct, frozen=True, gc=False):
    """An owner whose pods end."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()


class Namespace(msgspec.Struct, frozen=True, gc=False):
    """A namespace; its labels can be selected by affinity terms."""

    metadata: Metadata = Metadata()


class DeviceClassSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An extended resource that the class serves, if it does."""

    extended_resource_name: str | None = None


class DeviceClass(msgspec.Struct, frozen=True, gc=False):
    """A class of devices that are given out by claims."""

    metadata: Metadata = Metadata()
    spec: DeviceClassSpec = DeviceClassSpec()
