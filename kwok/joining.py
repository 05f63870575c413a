"""`up --joinable`: what kubeadm needs in a cluster that machines are to join.

kubeadm writes it itself: its configuration and the kubelet's as ConfigMaps, and the rights of
machines with a token. Only the address of the API server is ours: kubeadm would write down the one
on loopback.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import TYPE_CHECKING, Final

import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from growth.errors import GiveUp
from kwok.answering import NoAnswer, answer_of
from kwok.configuration import MACHINES_REACH
from kwok.growing import run_kubectl
from kwok.programs import programs_for
from kwok.versions import NODE_PROGRAMS

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from kwok.clusters import LocalCluster
    from kwok.progress import Progress

MACHINES_ENDPOINT: Final = f"{MACHINES_REACH}:6443"
"""The API server as machines reach it."""
_PHASES: Final = (
    ("upload-config", "kubeadm"),
    ("upload-config", "kubelet"),
    ("bootstrap-token",),
)
_WITHIN: Final = 60.0


def kubeadm_for(arguments: argparse.Namespace, progress: Progress) -> Path:
    """The program, which is made if it isn't there."""
    wanted = [each for each in NODE_PROGRAMS if each.name == "kubeadm"]
    return programs_for(arguments, progress, wanted)["kubeadm"].path


def open_to_machines(cluster: LocalCluster, *, kubeadm: Path) -> None:
    """Write what a machine reads that joins."""
    written = cluster.folder / "kubeadm.yaml"
    written.write_text(yaml.safe_dump_all(_configuration(cluster)), "utf-8")
    for phase in _PHASES:
        words = ("init", "phase", *phase, f"--config={written}")
        _run(str(kubeadm), *words, f"--kubeconfig={cluster.kubeconfig}")
    _tell_address(cluster)
    # kubeadm has made a token for everybody.
    tokens = ("--field-selector", "type=bootstrap.kubernetes.io/token")
    run_kubectl(cluster, "--namespace", "kube-system", "delete", "secrets", *tokens)


def hash_of_ca(cluster: LocalCluster) -> str:
    """How a machine verifies the API server, as `kubeadm token create` prints it."""
    with warnings.catch_warnings():
        # The serial number of kwokctl's own is zero.
        warnings.simplefilter("ignore")
        certificate = x509.load_pem_x509_certificate((cluster.work / "pki/ca.crt").read_bytes())
    key = certificate.public_key()
    written = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(written).hexdigest()}"


def _configuration(cluster: LocalCluster) -> list[dict[str, object]]:
    api = "kubeadm.k8s.io/v1beta4"
    return [
        {
            "apiVersion": api,
            "kind": "InitConfiguration",
            "localAPIEndpoint": {"advertiseAddress": MACHINES_REACH},
            "nodeRegistration": {
                "name": f"{cluster.name}-control-plane",
                "criSocket": "unix:///run/containerd/containerd.sock",
            },
        },
        {
            "apiVersion": api,
            "kind": "ClusterConfiguration",
            "kubernetesVersion": f"v{cluster.version}",
            "controlPlaneEndpoint": MACHINES_ENDPOINT,
        },
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            # Many machines that tests run on still have control groups of version 1.
            "failCgroupV1": False,
            "cgroupDriver": "cgroupfs",
        },
    ]


def _run(*command: str) -> None:
    try:
        done = answer_of(command, within=_WITHIN)
    except NoAnswer:
        raise GiveUp(f"timed out after {_WITHIN:.0f} s waiting for kubeadm") from None
    if done.returncode != 0:
        raise GiveUp(f"{' '.join(command[1:5])} failed: {done.stderr.strip()}")


def _tell_address(cluster: LocalCluster) -> None:
    """The controller that signs it signs it again."""
    place = ("--namespace", "kube-public", "configmap", "cluster-info")
    told = json.loads(run_kubectl(cluster, "get", *place, "--output", "json"))
    known = yaml.safe_load(told["data"]["kubeconfig"])
    known["clusters"][0]["cluster"]["server"] = f"https://{MACHINES_ENDPOINT}"
    changed = json.dumps({"data": {"kubeconfig": yaml.safe_dump(known)}})
    run_kubectl(cluster, "patch", *place, "--patch", changed)
