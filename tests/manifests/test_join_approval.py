"""A join token of growth's gets a certificate for one name, on a real control plane.

The real API server checks the token and writes who asks, growth-certs approves with its own
account, and the real kube-controller-manager signs.
"""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import pytest
import yaml
from cryptography import x509

from growth.api.hetznernodeclass import BootstrapKind
from growth.api.joining import JoinApproval, token_id
from growth.installation.rendering import rendered
from growth.installation.values import InstallationValues
from reconciler.providers.hetzner.bootstrap.tokens import JoinToken, token_secret
from tests.certs.joining import pem_for, signing_request
from tests.manifests.asking import asked, request
from tests.manifests.commands import grow
from tests.manifests.test_rights import check, running, token_of, until
from tests.manifests.witness import witness

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

APPROVING: Final = InstallationValues(join_approval=JoinApproval.GROWTH)
ROLE: Final = [
    each for each in rendered(APPROVING) if each["metadata"]["name"] == "growth-certs-join-approval"
]
"""What growth-certs may do besides; its other roles have tests of their own."""
REQUESTS: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SECRET: Final = "0123456789abcdef"


@pytest.fixture
def approving(installed: LiveCluster, tmp_path: Path) -> LiveCluster:
    """A cluster in which growth approves."""
    values = tmp_path / "values.yaml"
    values.write_text("joinApproval: Growth")
    assert grow(installed, "install", "--values", str(values), "--wait", "0s") == 0
    return installed


class Machine:
    """One that is coming, and the kubeconfig with its join token."""

    def __init__(self, cluster: LiveCluster, folder: Path) -> None:
        self.cluster = cluster
        self.name = f"pool-{uuid4()}"
        cluster.create(request(self.name))
        self.uid = cluster.get("noderequest", self.name)["metadata"]["uid"]
        token = JoinToken(id=token_id(self.uid), secret=SECRET)
        secret = token_secret(
            token,
            request_name=self.name,
            request_uid=self.uid,
            kind=BootstrapKind.KUBEADM,
            expires_at=datetime.now(UTC) + timedelta(minutes=10),
            approval=JoinApproval.GROWTH,
        )
        cluster.create(secret, namespace="kube-system")
        self.kubeconfig = folder / self.name
        self.kubeconfig.write_text(with_token(cluster, token.text))

    def phase(self, phase: str) -> None:
        patch = json.dumps({"status": {"phase": phase}})
        words = ("--subresource=status", "--type=merge", "--patch", patch)
        self.cluster.kubectl("patch", "noderequest", self.name, *words)

    def asks(self, name: str) -> str:
        """Ask for the certificate of a node; returns the name of the object."""
        made = f"csr-{uuid4()}"
        body = signing_request(made, pem_for(f"system:node:{name}"))
        answer = asked(self.kubeconfig, "POST", REQUESTS, body)
        assert f'"name":"{made}"' in answer, answer
        return made


def with_token(cluster: LiveCluster, token: str) -> str:
    config = yaml.safe_load(cluster.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = {"token": token}
    server = config["clusters"][0]["cluster"]
    authority = cluster.kubeconfig.parent / server["certificate-authority"]
    server["certificate-authority"] = str(authority)
    return yaml.safe_dump(config)


def status_of(cluster: LiveCluster, made: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.get("certificatesigningrequest", made)["status"]
    return found


def was_told(folder: Path, result: str) -> int:
    """How many requests had this result."""
    return (folder / "log").read_text().count(f'"result": "{result}"')


async def test_a_join_token_gets_a_certificate_for_its_own_machine_only(
    approving: LiveCluster, tmp_path: Path
) -> None:
    cluster = approving
    token = await asyncio.to_thread(token_of, cluster, "growth-certs")
    machine, other = [await asyncio.to_thread(Machine, cluster, tmp_path) for _ in range(2)]
    await asyncio.to_thread(other.phase, "Provisioning")
    async with witness(cluster, token, tmp_path) as proxy:
        async with running("certs", proxy, tmp_path, GROWTH_JOIN_APPROVAL="Growth"):
            foreign = [
                await asyncio.to_thread(machine.asks, name)
                for name in (other.name, "control-plane", "worker-1")
            ]
            await until(lambda: was_told(tmp_path, "no_request") == 3, "they are looked at")
            own = await asyncio.to_thread(machine.asks, machine.name)
            await until(lambda: was_told(tmp_path, "not_under_way"), "it is too early")
            await asyncio.to_thread(machine.phase, "Provisioning")
            await until(lambda: "certificate" in status_of(cluster, own), "it is signed")
            await asyncio.to_thread(cluster.create, node(machine.name))
            second = await asyncio.to_thread(machine.asks, machine.name)
            await until(lambda: was_told(tmp_path, "joined"), "its node is there")
        check("growth-certs", proxy, ROLE)

    left = [await asyncio.to_thread(status_of, cluster, each) for each in (*foreign, second)]
    await asyncio.to_thread(cluster.kubectl, "delete", "node", machine.name)
    await asyncio.to_thread(cluster.kubectl, "delete", "noderequest", machine.name, other.name)
    assert left == [{}, {}, {}, {}]
    signed = base64.b64decode(status_of(cluster, own)["certificate"])
    subject = x509.load_pem_x509_certificate(signed).subject.rfc4514_string()
    assert f"CN=system:node:{machine.name}" in subject


def node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def test_a_machine_reads_with_its_token_what_kubeadm_reads(
    approving: LiveCluster, tmp_path: Path
) -> None:
    machine = Machine(approving, tmp_path)
    maps = "/api/v1/namespaces/kube-system/configmaps"
    paths = {
        f"{maps}/kubeadm-config": "not found",
        f"{maps}/kubelet-config": "not found",
        f"{maps}/kube-proxy": "not found",
        f"/api/v1/nodes/{machine.name}": "not found",
        f"{maps}/other": "forbidden",
        "/api/v1/namespaces/kube-system/secrets": "forbidden",
        "/api/v1/nodes": "forbidden",
    }

    answers = {path: asked(machine.kubeconfig, "GET", path, None) for path in paths}

    approving.kubectl("delete", "noderequest", machine.name)
    assert {path: word in answers[path] for path, word in paths.items()} == dict.fromkeys(
        paths, True
    )
