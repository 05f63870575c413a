"""HetznerNodeClass: how servers are created at Hetzner Cloud, and how they join the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field
from typing_extensions import override

from growth.api import hetznernodeclass_rules
from growth.api.bounds import Count, Currency, Flag, Identifier, Labels, ListSet
from growth.api.meta import KeyReference, PrinterColumn
from growth.api.model import Model
from growth.api.nodeclass import NodeClass, NodeClassStatus
from growth.api.rules import AnyRule
from growth.api.written import Quantity

THRESHOLD = r"^[0-9]{1,12}(\.[0-9]{1,3})?([KMGT]i?|%)?$"
VERSION = r"^v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$"
CIDR_V4 = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])$"
_STAND_IN: Final = {"namespace": "left-out", "name": "left-out", "key": "left-out"}
_HARMLESS: Final = ("images", "placementGroup", "publicIPv4", "publicIPv6")


class ServerImages(Model):
    """The images of servers, by architecture."""

    rules: ClassVar[tuple[AnyRule, ...]] = (hetznernodeclass_rules.SOME_IMAGE,)

    x86: Identifier | None = None
    """Name or ID of an image or snapshot for x86 (CX, CPX, CCX). If unset, growth doesn't buy such
    types."""
    arm: Identifier | None = None
    """Name or ID of an image or snapshot for Arm (CAX). If unset, growth doesn't buy such types."""


class PlacementGroupPolicy(StrEnum):
    """Whether servers are spread over hosts."""

    REQUIRED = "Required"
    PREFERRED = "Preferred"
    NONE = "None"


class BootstrapKind(StrEnum):
    """How a server becomes a node."""

    K3S = "K3s"
    KUBEADM = "Kubeadm"
    TALOS = "Talos"
    CUSTOM = "Custom"


class TokenSource(StrEnum):
    """Where the join token comes from."""

    MINTED = "Minted"
    SECRET = "Secret"  # noqa: S105 - the name of a kind


class CloudProvider(StrEnum):
    """What sets a node's location, and deletes the node when its server is gone."""

    EXTERNAL = "External"
    NONE = "None"


class MetadataAccess(StrEnum):
    """Whether pods can reach the metadata address, from which user data can be read."""

    CLOSED = "Closed"
    OPEN = "Open"


class Kubelet(Model):
    """The kubelet's settings. Plans use them until the first node of a type has joined."""

    reserved: Annotated[Mapping[str, Quantity], Field(max_length=8)] = Field(default_factory=dict)
    """Sum of kube-reserved and system-reserved, for cpu, memory and ephemeral-storage."""
    max_pods: Annotated[Count, Field(ge=1, le=1000)] = 110
    """Maximum number of pods on a node."""
    eviction_hard: Annotated[
        Mapping[str, Annotated[str, Field(max_length=32, pattern=THRESHOLD)]],
        Field(max_length=8),
    ] = {"memory.available": "100Mi", "nodefs.available": "10%"}
    """Thresholds below which the kubelet evicts pods, by signal."""


class Bootstrap(Model):
    """How a server becomes a node of this cluster."""

    rules: ClassVar[tuple[AnyRule, ...]] = hetznernodeclass_rules.BOOTSTRAP

    kind: BootstrapKind
    """K3s, Kubeadm, Talos, or Custom (your own template)."""
    server: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """Address of the API server: https://host:6443 for K3s, host:6443 for Kubeadm."""
    ca_hash: Annotated[str, Field(max_length=71, pattern="^sha256:[0-9a-f]{64}$")] | None = None
    """How a server verifies the API server. Kubeadm: hash of the cluster CA's public key, as
    `kubeadm token create --print-join-command` prints it. K3s: hash of the CA's certificate, the
    digits after K10 in the server's node-token; without it, the first connection is trusted."""
    version: Annotated[str, Field(max_length=40, pattern=VERSION)] | None = None
    """The release to install at first boot: of k3s, such as v1.34.1+k3s1, or of Kubernetes, such as
    1.34.1 (Debian, Ubuntu). Unset: the image already contains it."""
    cloud_provider: CloudProvider = CloudProvider.EXTERNAL
    """External: Hetzner's cloud controller runs in the cluster and sets the location, type and
    provider ID of nodes. None: growth's user data sets them."""
    metadata_access: MetadataAccess = MetadataAccess.CLOSED
    """Closed: pods can't reach the metadata address unless they use the host network, which
    Hetzner's storage driver then has to. For K3s and Kubeadm."""
    token_from: TokenSource = TokenSource.MINTED
    """Minted creates a short-lived token for each server. Secret uses the one in tokenSecretRef."""
    token_secret_ref: KeyReference | None = None
    """The join token, if tokenFrom is Secret."""
    template: Annotated[str, Field(min_length=1, max_length=32_768)] | None = None
    """User data for kind Custom, with variables like $(growth.nodeName). docs/concepts/hetzner.md
    lists them."""
    template_secret_ref: KeyReference | None = None
    """The same in a Secret, for templates that contain secrets. For Talos, the machine
    configuration."""
    kubelet: Kubelet = Kubelet()
    """The kubelet's settings."""


class HetznerNodeClassSpec(Model):
    """How servers are created and join the cluster."""

    rules: ClassVar[tuple[AnyRule, ...]] = hetznernodeclass_rules.SPEC

    token_secret_ref: KeyReference
    """The Secret with the API token of the Hetzner Cloud project."""
    images: ServerImages
    """The images of servers, by architecture."""
    ssh_keys: Annotated[tuple[Identifier, ...], Field(max_length=50), ListSet()] = ()
    """Names or IDs of SSH keys. Without one, Hetzner sets a root password, which growth
    discards."""
    networks: Annotated[tuple[Identifier, ...], Field(max_length=3), ListSet()] = ()
    """Names or IDs of private networks. Nodes have their address in the first one."""
    subnet: Annotated[str, Field(max_length=18, pattern=CIDR_V4)] | None = None
    """IP range of the subnet of the first network from which servers get their address."""
    firewalls: Annotated[tuple[Identifier, ...], Field(max_length=5), ListSet()] = ()
    """Names or IDs of firewalls. They apply to public addresses only."""
    placement_group: PlacementGroupPolicy = PlacementGroupPolicy.PREFERRED
    """Preferred spreads servers over hosts in groups of ten, and buys without a group if that
    fails. Required never buys without a group. None doesn't spread servers."""
    public_ipv4: Flag = Field(default=True, alias="publicIPv4")
    """Whether servers have a public IPv4 address, which costs extra."""
    public_ipv6: Flag = Field(default=True, alias="publicIPv6")
    """Whether servers have a public IPv6 network."""
    labels: Labels = Field(default_factory=dict)
    """Additional labels of the servers at Hetzner."""
    bootstrap: Bootstrap
    """How a server becomes a node."""


class ResolvedImages(Model):
    """IDs of the images."""

    x86: Identifier | None = None
    """ID of the image for x86."""
    arm: Identifier | None = None
    """ID of the image for Arm."""


ResolvedIds = Annotated[tuple[Identifier, ...], Field(max_length=50), ListSet()]


class HetznerNodeClassStatus(NodeClassStatus):
    """The IDs of the spec's names at Hetzner."""

    images: ResolvedImages = ResolvedImages()
    """IDs of the images."""
    ssh_keys: ResolvedIds = ()
    """IDs of the SSH keys."""
    networks: ResolvedIds = ()
    """IDs of the networks."""
    firewalls: ResolvedIds = ()
    """IDs of the firewalls."""
    placement_groups: ResolvedIds = ()
    """IDs of the placement groups in use."""
    currency: Currency = ""
    """Currency of the project's bills, such as EUR. Empty until Hetzner has been asked."""


class HetznerNodeClass(NodeClass):
    """How servers are created at Hetzner Cloud."""

    kind_names: ClassVar[tuple[str, str, str]] = ("hetznernodeclasses", "hetznernodeclass", "hnc")
    provider: ClassVar[str] = "hetzner"
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Joins", "string", ".spec.bootstrap.kind"),
    )
    usually_bills_hours: ClassVar[bool] = True

    kind: Literal["HetznerNodeClass"] = "HetznerNodeClass"
    """HetznerNodeClass."""
    spec: HetznerNodeClassSpec
    """How servers are created and join the cluster."""
    status: HetznerNodeClassStatus = HetznerNodeClassStatus()
    """The IDs of the spec's names at Hetzner, written by growth."""

    @property
    @override
    def currency(self) -> str:
        return self.status.currency

    @override
    def disclosed(self) -> dict[str, Any]:
        """Without names and IDs of the project; the bootstrap is a placeholder."""
        spec = self.document()["spec"]
        bootstrap = {"kind": "Custom", "templateSecretRef": _STAND_IN}
        if "kubelet" in spec["bootstrap"]:
            bootstrap["kubelet"] = spec["bootstrap"]["kubelet"]
        silent = (each.model_copy(update={"message": ""}) for each in self.status.conditions)
        return {
            "spec": {
                "tokenSecretRef": _STAND_IN,
                "networks": [f"network-{number}" for number, _ in enumerate(self.spec.networks)],
                "bootstrap": bootstrap,
                **{name: spec[name] for name in _HARMLESS if name in spec},
            },
            "status": {"conditions": [each.document() for each in silent]},
        }
