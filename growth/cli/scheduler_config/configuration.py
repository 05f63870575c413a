"""The configuration with which kube-scheduler calls growth's extender, and how to install it.

It is a complete configuration: with `--config`, the scheduler ignores its own `--kubeconfig` and
client limits, so a file with only the extender would leave it without a cluster. Each number has a
comment, because people who read the file later may not have read the guides.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import yaml

URL: Final = "http://127.0.0.1:10284"
"""Where the extender listens by default."""


class SchedulerTarget(StrEnum):
    """Who runs kube-scheduler."""

    KUBEADM = "kubeadm"
    K3S = "k3s"
    KIND = "kind"
    KWOK = "kwok"


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How the scheduler reaches the extender."""

    url: str = URL
    authority: bytes = b""
    """The CA of its certificate, as PEM; for https only."""
    server_name: str = ""
    """The name in its certificate, if the address isn't in it."""


_HEAD: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
{kubeconfig}\
  # The scheduler writes a status to each pod that doesn't fit. At its default of 50 writes per
  # second, the last of 1,000 such pods would become demand only after 18 s.
  qps: 500
  burst: 1000
"""
_STANZA: Final = """\
extenders:
  - urlPrefix: {url}
    # The filter removes no node. It only tells growth that the pod has found one.
    filterVerb: filter
    # Prefers the node that was bought for the pod, then the fullest. At this weight, one point
    # outweighs the difference between the scheduler's own scores for two similar nodes.
    prioritizeVerb: prioritize
    weight: 10
    # A call takes about 1 ms. If the extender hangs, each pod is delayed by this time.
    httpTimeout: 300ms
    # Send node names instead of whole nodes.
    nodeCacheCapable: true
    # Scheduling continues without the extender. Safe, because its answers never exclude a node.
    ignorable: true
"""
_KUBECONFIG: Final = {
    SchedulerTarget.KUBEADM: "/etc/kubernetes/scheduler.conf",
    SchedulerTarget.KIND: "/etc/kubernetes/scheduler.conf",
    SchedulerTarget.K3S: "/var/lib/rancher/k3s/server/cred/scheduler.kubeconfig",
}
_INSTRUCTIONS: Final = {
    SchedulerTarget.KUBEADM: """\
Save this on every control-plane node as /etc/kubernetes/growth-scheduler.yaml:
  growth scheduler-config --for kubeadm > /etc/kubernetes/growth-scheduler.yaml
Then add to /etc/kubernetes/manifests/kube-scheduler.yaml
  to command:
    - --config=/etc/kubernetes/growth-scheduler.yaml
  to volumeMounts:
    - {name: growth, mountPath: /etc/kubernetes/growth-scheduler.yaml, readOnly: true}
  to volumes:
    - {name: growth, hostPath: {path: /etc/kubernetes/growth-scheduler.yaml, type: File}}
The kubelet restarts the scheduler. To keep this during kubeadm upgrade, add the same to the
ClusterConfiguration (kubectl -n kube-system edit configmap kubeadm-config):
  scheduler:
    extraArgs: [{name: config, value: /etc/kubernetes/growth-scheduler.yaml}]
    extraVolumes: [{name: growth, hostPath: /etc/kubernetes/growth-scheduler.yaml,
      mountPath: /etc/kubernetes/growth-scheduler.yaml, readOnly: true, pathType: File}]
""",
    SchedulerTarget.K3S: """\
Save this on every server as /etc/rancher/k3s/growth-scheduler.yaml:
  growth scheduler-config --for k3s > /etc/rancher/k3s/growth-scheduler.yaml
Then add to /etc/rancher/k3s/config.yaml
  kube-scheduler-arg:
    - config=/etc/rancher/k3s/growth-scheduler.yaml
and restart the servers one at a time: systemctl restart k3s
""",
    SchedulerTarget.KIND: """\
Save this as growth-scheduler.yaml:
  growth scheduler-config --for kind > growth-scheduler.yaml
and create the cluster (kind create cluster --config kind.yaml) with this kind.yaml:
  kind: Cluster
  apiVersion: kind.x-k8s.io/v1alpha4
  nodes:
    - role: control-plane
      extraMounts:
        - {hostPath: growth-scheduler.yaml, containerPath: /growth/scheduler.yaml, readOnly: true}
      kubeadmConfigPatches:
        - |
          kind: ClusterConfiguration
          scheduler:
            extraArgs: {config: /growth/scheduler.yaml}
            extraVolumes:
              - {name: growth, hostPath: /growth/scheduler.yaml,
                 mountPath: /growth/scheduler.yaml, readOnly: true, pathType: File}
""",
    SchedulerTarget.KWOK: """\
Save this as growth-scheduler.yaml:
  growth scheduler-config --for kwok > growth-scheduler.yaml
and create the cluster with it; kwokctl adds the kubeconfig:
  kwokctl create cluster --runtime binary --kube-scheduler-config growth-scheduler.yaml
In growth's repository, python -m kwok up --growth does all of this.
""",
}


def configuration_text(target: SchedulerTarget, reach: Reach) -> str:
    """The whole file: instructions as comments, then the configuration."""
    told = "".join(f"# {line}".rstrip() + "\n" for line in _INSTRUCTIONS[target].splitlines())
    kubeconfig = _KUBECONFIG.get(target)
    named = f"  kubeconfig: {kubeconfig}\n" if kubeconfig else ""
    return f"{told}{_HEAD.format(kubeconfig=named)}{_stanza(reach)}"


def extended(configuration: str, reach: Reach) -> str:
    """An existing configuration with growth's extender added."""
    content = yaml.safe_load(configuration)
    ours = yaml.safe_load(_stanza(reach))["extenders"]
    extenders = [*(content.get("extenders") or []), *ours]
    text: str = yaml.safe_dump(content | {"extenders": extenders})
    return text


def _stanza(reach: Reach) -> str:
    stanza = _STANZA.format(url=reach.url)
    return stanza + _tls(reach) if reach.url.startswith("https:") else stanza


def _tls(reach: Reach) -> str:
    authority = base64.b64encode(reach.authority).decode()
    name = f"      serverName: {reach.server_name}\n" if reach.server_name else ""
    return (
        "    enableHTTPS: true\n"
        "    tlsConfig:\n"
        f"{name}"
        "      # The CA of the extender's certificate. The scheduler reads it once, at startup.\n"
        f"      caData: {authority}\n"
    )
