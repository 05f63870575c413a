"""The configuration of a cluster, and why it differs from kwokctl's own.

Only loopback is served, because etcd has no password. Client rate limits are raised; otherwise the
programs would wait for themselves (by default, the controller manager creates 20 pods per second
and the scheduler binds 50). etcd skips fsync, because no data outlives the cluster. The API server
advertises an address from the block reserved for documentation: finding its own would need a
default route, which a machine without a network doesn't have, and endpoints reject loopback.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from growth.cli.scheduler_config.configuration import Reach, extended
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kwok.clusters import LocalCluster
    from kwok.finding import FoundProgram

STAGES: Final = Path(__file__).with_name("stages")
SCHEDULER_API: Final = "kubescheduler.config.k8s.io/v1"
DEFAULT_SCHEDULER: Final = json.dumps(
    {
        "apiVersion": SCHEDULER_API,
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"qps": 500, "burst": 1000},
        # Alone it needs no Lease; if the API server is slow or down, it would lose the Lease and
        # exit.
        "leaderElection": {"leaderElect": False},
    }
)
EXTRA_ARGUMENTS: Final = {
    "etcd": {"unsafe-no-fsync": "true"},
    "kube-apiserver": {
        "advertise-address": "192.0.2.1",
        # For join tokens, as kubeadm and k3s do it.
        "enable-bootstrap-token-auth": "true",
    },
    # As for the scheduler.
    "kube-controller-manager": {
        "leader-elect": "false",
        "kube-api-qps": "500",
        "kube-api-burst": "1000",
    },
}


# kwok's default of four pods at a time would make the simulated kubelets the slowest part. If one
# option is given, kwok doesn't set defaults for the others.
SIMULATION: Final = {
    "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
    "kind": "KwokConfiguration",
    "options": {
        "cidr": "10.0.0.0/16",
        "podPlayStageParallelism": 16,
        "nodePlayStageParallelism": 16,
        "nodeLeaseParallelism": 4,
        "podsOnNodeSyncParallelism": 4,
        "enablePodsOnNodeSyncListPager": True,
    },
}
# A kubelet renews its Lease four times in its duration. With 200 s instead of 40 s, a thousand
# nodes cost 20 writes per second instead of 100. How often nodes are checked stays as in real
# clusters.
NODE_TIMES: Final = {
    "heartbeatFactor": 1,
    "nodeLeaseDurationSeconds": 200,
    "kubeControllerManagerNodeMonitorPeriodMilliseconds": 5_000,
    "kubeControllerManagerNodeMonitorGracePeriodMilliseconds": 200_000,
}


_BINARIES: Final = {
    "etcdBinary": "etcd",
    "kubeApiserverBinary": "kube-apiserver",
    "kubeControllerManagerBinary": "kube-controller-manager",
    "kubeSchedulerBinary": "kube-scheduler",
    "kubectlBinary": "kubectl",
    "kwokControllerBinary": "kwok",
}
_PORTS: Final = {
    "etcdPort": "etcd",
    "etcdPeerPort": "etcd-peers",
    "kubeApiserverPort": "kube-apiserver",
    "kubeControllerManagerPort": "kube-controller-manager",
    "kubeSchedulerPort": "kube-scheduler",
    "kwokControllerPort": "kwok-controller",
}


def write_configuration(cluster: LocalCluster, programs: Mapping[str, FoundProgram]) -> Path:
    """Write kwokctl's configuration: its own options and our stages, as documents in one file."""
    stages = [path.read_text("utf-8") for path in sorted(STAGES.glob("*.yaml"))]
    options = _options(cluster, {name: found.path for name, found in programs.items()})
    written = cluster.folder / "kwokctl.yaml"
    documents = [json.dumps(options, default=str), json.dumps(SIMULATION), *stages]
    written.write_text("\n---\n".join(documents), "utf-8")
    return written


SIMULATED: Final = {"kwok.x-k8s.io/node": "fake"}
"""The annotation of nodes that kwok simulates, with or without other nodes."""
# kubeadm's own control planes have these, too.
JOINABLE_ARGUMENTS: Final = {
    "kube-apiserver": {"enable-admission-plugins": "NodeRestriction"},
    "kube-controller-manager": {
        "controllers": "*,bootstrap-signer-controller,token-cleaner-controller"
    },
    # kwok must not play the pods of machines that have a kubelet.
    "kwok-controller": {
        "manage-all-nodes": "false",
        "manage-nodes-with-annotation-selector": "=".join(*SIMULATED.items()),
    },
}
MACHINES_REACH: Final = "10.0.0.2"
"""The address of the API server in the private network of machines that join."""


def _extra_arguments(cluster: LocalCluster) -> dict[str, dict[str, str]]:
    """All that is added to the arguments that kwokctl chooses; what comes last counts."""
    own = JOINABLE_ARGUMENTS if cluster.joinable else {}
    usual = _usual_arguments(cluster)
    return {name: {**usual.get(name, {}), **own.get(name, {})} for name in {**usual, **own}}


def _usual_arguments(cluster: LocalCluster) -> dict[str, dict[str, str]]:
    """With the keys that the certificates of kubelets are signed with, as kubeadm sets them."""
    keys = cluster.work / "pki"
    signing = {
        "cluster-signing-cert-file": str(keys / "ca.crt"),
        "cluster-signing-key-file": str(keys / "ca.key"),
    }
    manager = "kube-controller-manager"
    return {**EXTRA_ARGUMENTS, manager: {**EXTRA_ARGUMENTS[manager], **signing}}


def _options(cluster: LocalCluster, paths: Mapping[str, Path]) -> dict[str, object]:
    scheduler = cluster.folder / "scheduler.yaml"
    scheduler.write_text(_scheduler_of(cluster), "utf-8")
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": {
            "runtime": "binary",
            "bindAddress": "127.0.0.1",
            "securePort": True,
            "kubeAuthorization": True,
            "kubeAdmission": True,
            "kubeVersion": f"v{cluster.version}",
            "kubeSchedulerConfig": scheduler,
            **{option: paths[name] for option, name in _BINARIES.items()},
            **{option: cluster.ports[use] for option, use in _PORTS.items()},
            **NODE_TIMES,
            **({"kubeApiserverCertSANs": [MACHINES_REACH]} if cluster.joinable else {}),
        },
        "componentsPatches": [_patch(*each) for each in _extra_arguments(cluster).items()],
    }


def _scheduler_of(cluster: LocalCluster) -> str:
    if not cluster.extended:
        return cluster.scheduler
    return extended(cluster.scheduler, Reach(url=f"http://{cluster.address('growth-verbs')}"))


def _patch(component: str, arguments: Mapping[str, str]) -> dict[str, object]:
    extra = [{"key": key, "value": value} for key, value in arguments.items()]
    return {"name": component, "extraArgs": extra}


def scheduler_configuration(path: Path | None) -> str:
    """The configuration of kube-scheduler: the user's, if it is valid, or ours."""
    if path is None:
        return DEFAULT_SCHEDULER
    text = _text_of(path)
    # Checked here too, because kwokctl would report it in twenty lines.
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as failure:
        problem = " ".join(str(failure).split())
        raise Misconfigured(f"--scheduler-config {path} isn't YAML: {problem}") from None
    kind = (content.get("apiVersion"), content.get("kind")) if isinstance(content, dict) else None
    if kind != (SCHEDULER_API, "KubeSchedulerConfiguration"):
        raise Misconfigured(
            f"--scheduler-config {path} isn't a scheduler configuration; "
            f"it must begin with apiVersion: {SCHEDULER_API}, kind: KubeSchedulerConfiguration"
        )
    return text


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        reason = getattr(failure, "strerror", None) or "it isn't text"
        raise Misconfigured(f"--scheduler-config {path} can't be read: {reason}") from None
