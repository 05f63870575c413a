"""The configuration with which kube-scheduler asks growth's extender, and what to do with it.

It is a whole configuration and not a stanza alone: beside `--config` the scheduler passes over its
own `--kubeconfig` and client limits, so a file with nothing but the stanza would leave it without a
cluster. Each number bears its reason, since whoever reads this file later hasn't read our guides.
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
    """The CA of its certificate, as PEM; needed for https and for nothing else."""
    server_name: str = ""
    """The name in its certificate, where the address isn't in it."""


_HEAD: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
{kubeconfig}\
  # The scheduler writes to a pod that it found no node for. At its default of 50 writes a second
  # the last of 1,000 such pods would be known as demand only after 18 s.
  qps: 500
  burst: 1000
"""
_STANZA: Final = """\
extenders:
  - urlPrefix: {url}
    # It takes no node away: it only hears that the pod has found one.
    filterVerb: filter
    # It prefers the node that was bought for the pod, then the fullest. At this weight one point
    # of it outweighs what the scheduler's own rules say about two nodes that are alike.
    prioritizeVerb: prioritize
    weight: 10
    # A call takes about 1 ms. One that hangs costs the scheduler this long, for each pod.
    httpTimeout: 300ms
    # Names are sent instead of whole nodes.
    nodeCacheCapable: true
    # Scheduling goes on when the extender is away. Safe, as no answer of it matters for fitting.
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
Then let kube-scheduler read it. In /etc/kubernetes/manifests/kube-scheduler.yaml add
  to command:
    - --config=/etc/kubernetes/growth-scheduler.yaml
  to volumeMounts:
    - {name: growth, mountPath: /etc/kubernetes/growth-scheduler.yaml, readOnly: true}
  to volumes:
    - {name: growth, hostPath: {path: /etc/kubernetes/growth-scheduler.yaml, type: File}}
The kubelet starts it anew by itself. For kubeadm upgrade to keep it, say the same in the
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
and restart the servers one after the other: systemctl restart k3s
""",
    SchedulerTarget.KIND: """\
Save this as growth-scheduler.yaml:
  growth scheduler-config --for kind > growth-scheduler.yaml
and make the cluster (kind create cluster --config kind.yaml) with this kind.yaml:
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
and make the cluster with it; kwokctl adds the kubeconfig:
  kwokctl create cluster --runtime binary --kube-scheduler-config growth-scheduler.yaml
In growth's own repository, python -m kwok up --growth does all of it.
""",
}


def configuration_text(target: SchedulerTarget, reach: Reach) -> str:
    """The whole file: what to do with it as comments, then the configuration."""
    told = "".join(f"# {line}".rstrip() + "\n" for line in _INSTRUCTIONS[target].splitlines())
    kubeconfig = _KUBECONFIG.get(target)
    named = f"  kubeconfig: {kubeconfig}\n" if kubeconfig else ""
    return f"{told}{_HEAD.format(kubeconfig=named)}{_stanza(reach)}"


def extended(configuration: str, reach: Reach) -> str:
    """A configuration of the scheduler's, with growth's extender beside those that it has."""
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
        "      # The authority of the extender's certificate. It is read once, at the start.\n"
        f"      caData: {authority}\n"
    )
