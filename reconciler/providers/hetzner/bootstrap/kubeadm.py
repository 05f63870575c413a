"""Joins a server with kubeadm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reconciler.providers.hetzner.bootstrap.cloud_config import (
    FETCH,
    File,
    Steps,
    cloud_config_text,
)
from reconciler.providers.hetzner.bootstrap.joining import kubelet_arguments

if TYPE_CHECKING:
    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

JOIN_PATH = "/etc/kubernetes/growth-join.yaml"
MODULES = File("/etc/modules-load.d/growth.conf", "overlay\nbr_netfilter\n", "0644")
FORWARDING = File("/etc/sysctl.d/90-growth.conf", "net.ipv4.ip_forward = 1\n", "0644")
# kubeadm's systemd unit for the kubelet reads this value from /etc/default/kubelet.
_OWN_ADDRESS = """\
. /run/growth
extra=
[ -z "$address" ] || extra="--node-ip=$address\""""
# Debian 13's containerd looks for network plugins only where Debian's packages install them.
# kubernetes-cni and the plugins' own installers use /opt/cni/bin.
_CONTAINERD = (
    "containerd config default | "
    "sed -e 's/SystemdCgroup = false/SystemdCgroup = true/' "
    """-e 's|"/usr/lib/cni"|"/opt/cni/bin"|' > /etc/containerd/config.toml"""
)
# An image may contain a package's configuration file. dpkg would ask which one to keep, and fail.
_INSTALL = "apt-get install -qy -o Dpkg::Options::=--force-confold"
_OWN_ID = 'extra="$extra --provider-id=hcloud://$id"'
_WRITE_EXTRA = 'echo "KUBELET_EXTRA_ARGS=$extra" > /etc/default/kubelet'


def steps(joining: JoiningServer) -> Steps:
    """Install Kubernetes if the class sets a version, then join."""
    own_id = () if joining.has_cloud_controller else (_OWN_ID,)
    return Steps(
        files=(File(JOIN_PATH, cloud_config_text(_configuration(joining))), MODULES, FORWARDING),
        commands=(
            "modprobe -a overlay br_netfilter",
            # Not --system: an invalid key in another file would stop the join.
            f"sysctl -qp {FORWARDING.path}",
            *_installed(joining.bootstrap.version),
            # After the installation, because the kubelet's package contains this file too.
            _OWN_ADDRESS,
            *own_id,
            _WRITE_EXTRA,
            f"kubeadm join --config {JOIN_PATH}",
            f"rm {JOIN_PATH}",
        ),
    )


def _configuration(joining: JoiningServer) -> dict[str, Any]:
    arguments = kubelet_arguments(joining)
    if joining.labels:
        arguments["node-labels"] = ",".join(f"{key}={it}" for key, it in joining.labels.items())
    return {
        "apiVersion": "kubeadm.k8s.io/v1beta4",
        "kind": "JoinConfiguration",
        "discovery": {
            "bootstrapToken": {
                "apiServerEndpoint": joining.bootstrap.server,
                "token": joining.token,
                "caCertHashes": [joining.bootstrap.ca_hash],
            }
        },
        "nodeRegistration": {
            "name": joining.order.name,
            "taints": [
                {"key": taint.key, "value": taint.value, "effect": taint.effect}
                for taint in joining.order.taints
            ],
            "kubeletExtraArgs": [
                {"name": name, "value": value} for name, value in sorted(arguments.items())
            ],
        },
    }


def _installed(version: str | None) -> tuple[str, ...]:
    """Commands that install Kubernetes' own packages and the distribution's containerd."""
    if version is None:
        return ()
    release = version.removeprefix("v")
    minor = ".".join(release.split(".")[:2])
    repository = f"https://pkgs.k8s.io/core:/stable:/v{minor}/deb/"
    key = "/etc/apt/keyrings/kubernetes.asc"
    return (
        "export DEBIAN_FRONTEND=noninteractive",
        "mkdir -p /etc/apt/keyrings",
        f"{FETCH} {repository}Release.key -o {key}",
        f"echo 'deb [signed-by={key}] {repository} /' > /etc/apt/sources.list.d/kubernetes.list",
        "apt-get update -q",
        f"{_INSTALL} containerd 'kubelet={release}-*' 'kubeadm={release}-*'",
        "apt-mark hold kubelet kubeadm",
        "mkdir -p /etc/containerd",
        _CONTAINERD,
        "systemctl restart containerd",
    )
