"""The few fields of Cluster API's objects (v1beta2) that decide anything."""

from __future__ import annotations

from typing import Any, Final

import msgspec

GROUP: Final = "cluster.x-k8s.io"
VERSION: Final = f"{GROUP}/v1beta2"
CLUSTERS: Final = f"/apis/{VERSION}/clusters"
DEPLOYMENTS: Final = f"/apis/{VERSION}/machinedeployments"
MACHINES: Final = f"/apis/{VERSION}/machines"
ACCOUNTS: Final = "/api/v1/serviceaccounts"

CLUSTER_LABEL: Final = f"{GROUP}/cluster-name"
DEPLOYMENT_LABEL: Final = f"topology.{GROUP}/deployment-name"
RECORD_LABEL: Final = "growth.dev/cluster-record-uid"
"""On a Cluster and on its agent's account: the uid of the record that they belong to."""


class CapiMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """Metadata of an object."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    deletion_timestamp: str | None = None


class TopologyDeployment(msgspec.Struct, frozen=True):
    """Compute nodes of one zone, as they are wanted."""

    name: str
    replicas: int | None = None


class TopologyWorkers(msgspec.Struct, frozen=True, rename="camel"):
    """All compute nodes, as they are wanted."""

    machine_deployments: tuple[TopologyDeployment, ...] = ()


class CapiTopology(msgspec.Struct, frozen=True):
    """What a cluster is wanted to be."""

    workers: TopologyWorkers = TopologyWorkers()


class CapiClusterSpec(msgspec.Struct, frozen=True):
    """The spec of a Cluster."""

    topology: CapiTopology = CapiTopology()


class CapiCondition(msgspec.Struct, frozen=True):
    """A condition of a Cluster."""

    type: str
    status: str = ""


class CapiClusterStatus(msgspec.Struct, frozen=True):
    """The status of a Cluster. Its phase isn't read: it says Provisioned too early."""

    conditions: tuple[CapiCondition, ...] = ()


class CapiCluster(msgspec.Struct, frozen=True):
    """A Cluster."""

    metadata: CapiMetadata
    spec: CapiClusterSpec = CapiClusterSpec()
    status: CapiClusterStatus = CapiClusterStatus()


class CapiDeploymentSpec(msgspec.Struct, frozen=True):
    """The spec of a MachineDeployment."""

    replicas: int | None = None


class CapiDeployment(msgspec.Struct, frozen=True):
    """A MachineDeployment."""

    metadata: CapiMetadata
    spec: CapiDeploymentSpec = CapiDeploymentSpec()


class CapiMachineStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The status of a Machine."""

    node_ref: dict[str, Any] | None = None


class CapiMachine(msgspec.Struct, frozen=True):
    """A Machine."""

    metadata: CapiMetadata
    status: CapiMachineStatus = CapiMachineStatus()


class AgentAccount(msgspec.Struct, frozen=True):
    """A ServiceAccount."""

    metadata: CapiMetadata
