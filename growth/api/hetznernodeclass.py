"""HetznerNodeClass: how servers are made at Hetzner Cloud, and how they join the cluster."""

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
    """What servers boot, by their processor's architecture."""

    rules: ClassVar[tuple[AnyRule, ...]] = (hetznernodeclass_rules.SOME_IMAGE,)

    x86: Identifier | None = None
    """Name or id of an image or snapshot for x86 (CX, CPX, CCX). Unset: such types aren't
    bought."""
    arm: Identifier | None = None
    """Name or id of an image or snapshot for Arm (CAX). Unset: such types aren't bought."""


class PlacementGroupPolicy(StrEnum):
    """Whether servers are kept on different hosts."""

    REQUIRED = "Required"
    PREFERRED = "Preferred"
    NONE = "None"


class BootstrapKind(StrEnum):
    """What makes a server a node."""

    K3S = "K3s"
    KUBEADM = "Kubeadm"
    TALOS = "Talos"
    CUSTOM = "Custom"


class TokenSource(StrEnum):
    """Where the secret comes from that a server joins with."""

    MINTED = "Minted"
    SECRET = "Secret"  # noqa: S105 - the name of a kind


class CloudProvider(StrEnum):
    """Who tells a node where it is and when it is gone."""

    EXTERNAL = "External"
    NONE = "None"


class MetadataAccess(StrEnum):
    """Whether pods reach the metadata address, where a server's user data can be read."""

    CLOSED = "Closed"
    OPEN = "Open"


class Kubelet(Model):
    """What the kubelet keeps from pods; plans count with it until a node of the type was seen."""

    reserved: Annotated[Mapping[str, Quantity], Field(max_length=8)] = Field(default_factory=dict)
    """Sum of kube-reserved and system-reserved, by resource: cpu, memory, ephemeral-storage."""
    max_pods: Annotated[Count, Field(ge=1, le=1000)] = 110
    """Pods that a node takes."""
    eviction_hard: Annotated[
        Mapping[str, Annotated[str, Field(max_length=32, pattern=THRESHOLD)]],
        Field(max_length=8),
    ] = {"memory.available": "100Mi", "nodefs.available": "10%"}
    """Thresholds below which the kubelet evicts, by signal."""


class Bootstrap(Model):
    """How a server becomes a node of this cluster."""

    rules: ClassVar[tuple[AnyRule, ...]] = hetznernodeclass_rules.BOOTSTRAP

    kind: BootstrapKind
    """K3s, Kubeadm, Talos, or Custom (a template of your own)."""
    server: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """Where the API server is reached: https://host:6443 for K3s, host:6443 for Kubeadm."""
    ca_hash: Annotated[str, Field(max_length=71, pattern="^sha256:[0-9a-f]{64}$")] | None = None
    """What a server knows the API server by. Kubeadm: hash of the cluster CA's public key, as
    `kubeadm token create --print-join-command` prints it. K3s: hash of the CA's certificate, the
    digits after K10 in the server's node-token; without it the first connection is trusted."""
    version: Annotated[str, Field(max_length=40, pattern=VERSION)] | None = None
    """What is installed at the first boot: a release of k3s such as v1.34.1+k3s1, or of Kubernetes
    such as 1.34.1 (Debian, Ubuntu). Unset: the image has it."""
    cloud_provider: CloudProvider = CloudProvider.EXTERNAL
    """External: Hetzner's cloud controller runs in the cluster and sets place, type and provider id
    of nodes. None: growth's user data sets them."""
    metadata_access: MetadataAccess = MetadataAccess.CLOSED
    """Closed: pods can't reach the metadata address, unless they use the host's network, as
    Hetzner's storage driver then must. For K3s and Kubeadm."""
    token_from: TokenSource = TokenSource.MINTED
    """Minted makes a short-lived token for each server; Secret uses the one in tokenSecretRef."""
    token_secret_ref: KeyReference | None = None
    """The join token, if tokenFrom is Secret."""
    template: Annotated[str, Field(min_length=1, max_length=32_768)] | None = None
    """User data for kind Custom, with variables like $(growth.nodeName); docs/concepts/hetzner.md
    lists them."""
    template_secret_ref: KeyReference | None = None
    """The same in a Secret, for what has secrets in it; also the machine configuration of Talos."""
    kubelet: Kubelet = Kubelet()
    """What the kubelet keeps from pods."""


class HetznerNodeClassSpec(Model):
    """How servers are made and how they join."""

    rules: ClassVar[tuple[AnyRule, ...]] = hetznernodeclass_rules.SPEC

    token_secret_ref: KeyReference
    """The Secret with the API token of the Hetzner Cloud project."""
    images: ServerImages
    """What servers boot, by architecture."""
    ssh_keys: Annotated[tuple[Identifier, ...], Field(max_length=50), ListSet()] = ()
    """Names or ids of SSH keys; without one Hetzner sets a root password, which growth throws
    away."""
    networks: Annotated[tuple[Identifier, ...], Field(max_length=3), ListSet()] = ()
    """Names or ids of private networks."""
    subnet: Annotated[str, Field(max_length=18, pattern=CIDR_V4)] | None = None
    """IP range of the first network's subnet that servers get their address from."""
    firewalls: Annotated[tuple[Identifier, ...], Field(max_length=5), ListSet()] = ()
    """Names or ids of firewalls; they act on public addresses only."""
    placement_group: PlacementGroupPolicy = PlacementGroupPolicy.PREFERRED
    """Preferred spreads servers over hosts in groups of ten, and buys without if that fails;
    Required never buys without; None doesn't spread."""
    public_ipv4: Flag = Field(default=True, alias="publicIPv4")
    """A public IPv4 address, which costs extra."""
    public_ipv6: Flag = Field(default=True, alias="publicIPv6")
    """A public IPv6 network."""
    labels: Labels = Field(default_factory=dict)
    """Labels of the servers at Hetzner, besides ours."""
    bootstrap: Bootstrap
    """How a server becomes a node."""


class ResolvedImages(Model):
    """Ids of the images."""

    x86: Identifier | None = None
    """Id of the image for x86."""
    arm: Identifier | None = None
    """Id of the image for Arm."""


ResolvedIds = Annotated[tuple[Identifier, ...], Field(max_length=50), ListSet()]


class HetznerNodeClassStatus(NodeClassStatus):
    """What the names of the spec are at Hetzner."""

    images: ResolvedImages = ResolvedImages()
    """Ids of the images."""
    ssh_keys: ResolvedIds = ()
    """Ids of the SSH keys."""
    networks: ResolvedIds = ()
    """Ids of the networks."""
    firewalls: ResolvedIds = ()
    """Ids of the firewalls."""
    placement_groups: ResolvedIds = ()
    """Ids of the placement groups in use."""
    currency: Currency = ""
    """What Hetzner bills the project in, such as EUR; empty until it was asked."""


class HetznerNodeClass(NodeClass):
    """How servers are made at Hetzner Cloud."""

    kind_names: ClassVar[tuple[str, str, str]] = ("hetznernodeclasses", "hetznernodeclass", "hnc")
    provider: ClassVar[str] = "hetzner"
    columns: ClassVar[tuple[PrinterColumn, ...]] = (
        PrinterColumn("Joins", "string", ".spec.bootstrap.kind"),
    )
    usually_bills_hours: ClassVar[bool] = True

    kind: Literal["HetznerNodeClass"] = "HetznerNodeClass"
    """HetznerNodeClass."""
    spec: HetznerNodeClassSpec
    """How servers are made and how they join."""
    status: HetznerNodeClassStatus = HetznerNodeClassStatus()
    """What the names of the spec are at Hetzner; written by growth."""

    @property
    @override
    def currency(self) -> str:
        return self.status.currency

    @override
    def disclosed(self) -> dict[str, Any]:
        """Without names and ids of the project; the way to join is a stand-in that says nothing."""
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
