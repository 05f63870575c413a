"""What a server carries at Hetzner, so that it can be found again and is never taken for another.

A project may hold two clusters, so nothing is done to a server without our cluster's label. The
request's uid tells a machine of a request from one that only bears its name.
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
REQUEST_UID_LABEL: Final = "growth.dev/request-uid"
TEMPLATE_LABEL: Final = "growth.dev/template"
SUBNET_LABEL: Final = "growth.dev/subnet"
"""Where a server is attached before its first boot: `<id of the network>_<address>_<bits>`."""
SUBNET: Final = re.compile(r"([0-9]+)_([^_]+)_([0-9]+)")


def selector(cluster: str) -> str:
    """What finds everything of this cluster and nothing else."""
    return f"{CLUSTER_LABEL}=={cluster},{MANAGED_BY_LABEL}=={MANAGED_BY}"


def ours(labels: Mapping[str, str], *, cluster: str) -> bool:
    """Whether something is this cluster's."""
    return labels.get(CLUSTER_LABEL) == cluster and labels.get(MANAGED_BY_LABEL) == MANAGED_BY


def server_labels(order: Order, node_class: HetznerNodeClass, *, cluster: str) -> dict[str, str]:
    """The labels of a server: the class's own, and over them ours."""
    return {
        **node_class.spec.labels,
        **group_labels(order.pool, cluster=cluster),
        REQUEST_UID_LABEL: order.request_uid,
        TEMPLATE_LABEL: template_hash(node_class),
    }


def subnet_label(network: int, ip_range: str) -> dict[str, str]:
    """The label of a server that gets its address from a chosen subnet."""
    return {SUBNET_LABEL: f"{network}_{ip_range.replace('/', '_')}"}


def subnet_of(labels: Mapping[str, str]) -> tuple[int, str]:
    """The network and the IP range in that label; GiveUp if a person has edited it."""
    written = SUBNET.fullmatch(labels[SUBNET_LABEL])
    if written is None:
        raise GiveUp(
            f"the server's label {SUBNET_LABEL} was edited at Hetzner and names no subnet any "
            "more: growth replaces the server"
        )
    network, address, bits = written.groups()
    return int(network), f"{address}/{bits}"


def group_labels(pool: str, *, cluster: str) -> dict[str, str]:
    """The labels of what a pool's servers share."""
    return {CLUSTER_LABEL: cluster, MANAGED_BY_LABEL: MANAGED_BY, POOL_LABEL: pool}


def template_hash(node_class: HetznerNodeClass) -> str:
    """Changes with the class's spec: tells the servers that were made from an older one."""
    return hashlib.sha256(node_class.spec.model_dump_json().encode()).hexdigest()[:16]
