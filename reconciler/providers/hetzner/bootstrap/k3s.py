"""Joins a server as a k3s agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.providers.hetzner.bootstrap.cloud_config import (
    FETCH,
    File,
    Steps,
    cloud_config_text,
)
from reconciler.providers.hetzner.bootstrap.joining import kubelet_arguments

if TYPE_CHECKING:
    from growth.api.hetznernodeclass import Bootstrap
    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

FOLDER = "/etc/rancher/k3s"
# The `+` appends to the list in config.yaml instead of replacing it.
_OWN_ADDRESS = f"""\
. /run/growth
mkdir -p {FOLDER}/config.yaml.d
[ -z "$address" ] || echo "node-ip: $address" >> {FOLDER}/config.yaml.d/growth.yaml"""
_OWN_ID = (
    f"""printf 'kubelet-arg+:\\n- provider-id=hcloud://%s\\n' "$id" """
    f">> {FOLDER}/config.yaml.d/growth.yaml"
)


def steps(joining: JoiningServer) -> Steps:
    """Configure and start the agent."""
    arguments = [f"{name}={value}" for name, value in kubelet_arguments(joining).items()]
    configuration = {
        "server": joining.bootstrap.server,
        "token": token(joining),
        "node-name": joining.order.name,
        "node-label": [f"{key}={value}" for key, value in joining.labels.items()],
        "node-taint": list(joining.taints),
        "kubelet-arg": arguments,
    }
    own_id = () if joining.has_cloud_controller else (_OWN_ID,)
    return Steps(
        files=(File(f"{FOLDER}/config.yaml", cloud_config_text(configuration)),),
        commands=(_OWN_ADDRESS, *own_id, _start(joining.bootstrap)),
    )


def token(joining: JoiningServer) -> str:
    """The join token. With the CA's hash in it, the agent verifies the server from the start."""
    ca_hash = joining.bootstrap.ca_hash
    # A token of the user may contain the hash already.
    if ca_hash is None or "::" in joining.token:
        return joining.token
    return f"K10{ca_hash.removeprefix('sha256:')}::{joining.token}"


def _start(bootstrap: Bootstrap) -> str:
    if bootstrap.version is None:
        return "systemctl enable --now k3s-agent"
    return (
        f"{FETCH} https://get.k3s.io -o /run/install-k3s\n"
        f"INSTALL_K3S_VERSION={bootstrap.version} sh /run/install-k3s agent"
    )
