"""The labels of a server at Hetzner, which identify the servers of this cluster.

Several clusters may share a project, so growth never touches a server without its cluster's label.
The request's uid distinguishes a request's own server from another one with the same name.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL
from growth.errors import GiveUp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.hetznernodeclass import HetznerNodeClass
    from reconciler.providers.port import Order

CLUSTER_LABEL: Final = "growth.dev/cluster"
INSTALLATION_LABEL: Final = "growth.dev/installation"
"""Which installation of growth bought a server: two clusters may have the same id by mistake."""
REQUEST_UID_LABEL: Final = "growth.dev/request-uid"
TEMPLATE_LABEL: Final = "growth.dev/template"
SUBNET_LABEL: Final = "growth.dev/subnet"
"""The subnet to attach a server to before its first boot: `<network id>_<address>_<bits>`."""
SUBNET: Final = re.compile(r"([0-9]+)_([^_]+)_([0-9]+)")


def selector(cluster: str) -> str:
    """The label selector for everything of this cluster."""
    return f"{CLUSTER_LABEL}=={cluster},{MANAGED_BY_LABEL}=={MANAGED_BY}"


def ours(labels: Mapping[str, str], *, cluster: str) -> bool:
    """Whether an object with these labels belongs to this cluster."""
    return labels.get(CLUSTER_LABEL) == cluster and labels.get(MANAGED_BY_LABEL) == MANAGED_BY


def server_labels(
    order: Order, node_class: HetznerNodeClass, *, cluster: str, installation: str
) -> dict[str, str]:
    """The labels of a server: those of the class, overridden by ours."""
    return {
        **node_class.spec.labels,
        # After those of the class, which must not be able to disguise whose server it is.
        **group_labels(order.pool, cluster=cluster),
        REQUEST_UID_LABEL: order.request_uid,
        TEMPLATE_LABEL: template_hash(node_class),
        INSTALLATION_LABEL: installation,
    }


def subnet_label(network: int, ip_range: str) -> dict[str, str]:
    """The label of a server whose class names a subnet."""
    return {SUBNET_LABEL: f"{network}_{ip_range.replace('/', '_')}"}


def subnet_of(labels: Mapping[str, str]) -> tuple[int, str]:
    """The network and the IP range in that label; GiveUp if a person has edited it."""
    written = SUBNET.fullmatch(labels[SUBNET_LABEL])
    if written is None:
        raise GiveUp(
            f"the server's label {SUBNET_LABEL} was edited at Hetzner and no longer names a "
            "subnet: growth replaces the server"
        )
    network, address, bits = written.groups()
    return int(network), f"{address}/{bits}"


def group_labels(pool: str, *, cluster: str) -> dict[str, str]:
    """The labels of a pool's placement groups, which its servers have too."""
    return {CLUSTER_LABEL: cluster, MANAGED_BY_LABEL: MANAGED_BY, POOL_LABEL: pool}


def template_hash(node_class: HetznerNodeClass) -> str:
    """A hash of the class's spec, to find servers that were created from an older one."""
    return hashlib.sha256(node_class.spec.model_dump_json().encode()).hexdigest()[:16]
