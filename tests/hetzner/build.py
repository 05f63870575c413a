"""Classes and orders for tests: everything usual, but for what a test is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.wellknown import UNREGISTERED_TAINT
from growth.api.written import ServerTypeName
from growth.scheduling.taints import NO_SCHEDULE, Taint
from reconciler.providers.hetzner.bootstrap.joining import JoiningServer
from reconciler.providers.port import ClassKey, Order

if TYPE_CHECKING:
    from datetime import datetime

INSTALLATION = "0d6c8f34-27a5-4be1-9a60-3f7e5b1c9d82"
CLUSTER = "7f3c9a52-1d0e-4b7a-9c57-5f0e6a1b2c3d"
JOIN_TOKEN = "a1b2c3.d4e5f6a7b8c9d0e1"
CA_HASH = "sha256:" + "5e" * 32
SECRET = {"namespace": "growth-system", "name": "hetzner", "key": "token"}
K3S = {"kind": "K3s", "server": "https://10.0.0.2:6443"}
KUBEADM = {"kind": "Kubeadm", "server": "10.0.0.2:6443", "caHash": CA_HASH}
TALOS = {"kind": "Talos", "templateSecretRef": {**SECRET, "name": "talos"}}
TAINTS = (
    Taint(UNREGISTERED_TAINT, NO_SCHEDULE),
    Taint("team", "NoExecute", "shop"),
)
LABELS = {
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": "default-1",
    "node.kubernetes.io/instance-type": "cx23",
    "topology.kubernetes.io/region": "nbg1",
    "topology.kubernetes.io/zone": "nbg1-dc3",
    "csi.hetzner.cloud/location": "nbg1",
    "instance.hetzner.cloud/provided-by": "cloud",
    "node-role.kubernetes.io/worker": "",
    "growth.dev/pool": "default",
    "growth.dev/node-request": "default-1",
    "team": "shop",
}


def node_class(*, bootstrap: dict[str, Any] | None = None, **spec: Any) -> HetznerNodeClass:
    usual = {
        "tokenSecretRef": SECRET,
        "images": {"x86": "debian-13"},
        "sshKeys": ["admin"],
        "placementGroup": "None",
        "bootstrap": bootstrap or K3S,
    }
    document = {"metadata": {"name": "default", "uid": "uid-class"}, "spec": usual | spec}
    return HetznerNodeClass.model_validate(document)


def order(
    name: str = "default-1",
    *,
    pool: str = "default",
    server_type: str = "cx23",
    location: str = "nbg1",
    request_uid: str = "",
    intended_at: datetime | None = None,
) -> Order:
    return Order(
        name=name,
        request_uid=request_uid or f"uid-{name}",
        pool=pool,
        node_class=ClassKey("HetznerNodeClass", "default"),
        server_type=ServerTypeName.parse(server_type),
        location=location,
        own_labels={},
        labels=LABELS,
        annotations={},
        taints=TAINTS,
        intended_at=intended_at,
    )


def joining(
    bootstrap: dict[str, Any], *, template: str = "", network: int | None = None
) -> JoiningServer:
    return JoiningServer(
        order=order(),
        bootstrap=node_class(bootstrap=bootstrap).spec.bootstrap,
        cluster=CLUSTER,
        token=JOIN_TOKEN,
        template=template or bootstrap.get("template", ""),
        network=network,
    )
