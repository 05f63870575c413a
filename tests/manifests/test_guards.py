"""What the reconciler's token can't do though its roles would let it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from growth.kube.call import MERGE_PATCH
from growth.kube.errors import ApiError
from growth.kube.transport import connect
from tests.cluster_wide import may, wait_steadily
from tests.live import wait_until
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]

SECRETS: Final = "/api/v1/namespaces/kube-system/secrets"
JOIN_TOKEN: Final = "bootstrap.kubernetes.io/token"


@pytest.fixture
def stolen(installed: LiveCluster, tmp_path: Path) -> Path:
    """The kubeconfig of somebody who has the reconciler's token."""
    assert grow(installed, "install", "--for", "hetzner", "--wait", "0s") == 0
    account = f"{SYSTEM}:growth-reconciler"
    wait_steadily(
        lambda: may(installed, "create", "secrets", account=account, namespace="kube-system"),
        "the rights of the reconciler",
    )
    token = installed.kubectl("create", "token", "growth-reconciler", "--namespace", SYSTEM)
    config = yaml.safe_load(installed.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = {"token": token.strip()}
    cluster = config["clusters"][0]["cluster"]
    authority = installed.kubeconfig.parent / cluster["certificate-authority"]
    cluster["certificate-authority"] = str(authority)
    path = tmp_path / "stolen"
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def secret(name: str, kind: str = "Opaque") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kube-system"}
    data = {"stringData": {"word": "a-secret"}}
    return {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, **data}


def asked(stolen: Path, *call: Any, content_type: str = "application/json") -> str:
    """What becomes of a request to the API server; kubectl would look before each patch."""

    async def ask() -> str:
        async with await connect(kubeconfig=stolen, process="test") as connection:
            method, path, body = call
            try:
                answer = await connection.request(
                    method, path, body=body, content_type=content_type
                )
            except ApiError as error:
                return error.message
            return answer.body.decode()

    return asyncio.run(ask())


def test_no_node_is_deleted_that_growth_has_not_bought(
    installed: LiveCluster, stolen: Path
) -> None:
    installed.create(node("foreign"), node("ours", **{"growth.dev/managed-by": "growth"}))
    delete = ("DELETE", "/api/v1/nodes/foreign", {"dryRun": ["All"]})
    refusal = "growth deletes no node that it hasn't bought"

    wait_until(lambda: refusal in asked(stolen, *delete), "the policy is in force")
    assert refusal in asked(stolen, "DELETE", "/api/v1/nodes/foreign", None)
    assert '"status":"Success"' in asked(stolen, "DELETE", "/api/v1/nodes/ours", None)
    installed.kubectl("delete", "node", "foreign", "--wait=false")


def test_no_secret_of_kube_system_is_seen_or_changed(installed: LiveCluster, stolen: Path) -> None:
    installed.create(secret("somebodys"), namespace="kube-system")
    refusal = "growth touches no Secret of kube-system but its own join tokens"
    # One that changes nothing would show what is there.
    patch: tuple[Any, ...] = ("PATCH", f"{SECRETS}/somebodys", {})

    wait_until(lambda: refusal in asked(stolen, *patch, content_type=MERGE_PATCH), "the policy")
    assert "word" not in asked(stolen, *patch, content_type=MERGE_PATCH)
    for body in (secret("bootstrap-token-abcdef"), secret("other", JOIN_TOKEN)):
        assert refusal in asked(stolen, "POST", SECRETS, body)
    assert "cannot get resource" in asked(stolen, "GET", f"{SECRETS}/somebodys", None)
    installed.kubectl("delete", "secret", "somebodys", "--namespace", "kube-system")


def join_token(**labels: str) -> dict[str, Any]:
    made = secret("bootstrap-token-abcdef", JOIN_TOKEN)
    made["stringData"] = {"token-id": "abcdef", "token-secret": "0123456789abcdef"}
    made["metadata"]["labels"] = labels
    return made


def test_no_join_token_of_others_is_changed_or_deleted(
    installed: LiveCluster, stolen: Path
) -> None:
    refusal = "growth touches no Secret of kube-system but its own join tokens"
    installed.create(join_token(), namespace="kube-system")
    path = f"{SECRETS}/bootstrap-token-abcdef"
    claim = {"metadata": {"labels": {"growth.dev/managed-by": "growth"}}}
    delete = ("DELETE", path, {"dryRun": ["All"]})

    wait_until(lambda: refusal in asked(stolen, *delete), "the policy is in force")
    assert refusal in asked(stolen, "DELETE", path, None)
    assert refusal in asked(stolen, "PATCH", path, claim, content_type=MERGE_PATCH)
    installed.kubectl("delete", "secret", "bootstrap-token-abcdef", "--namespace", "kube-system")


def test_a_join_token_is_made_prolonged_and_withdrawn(installed: LiveCluster, stolen: Path) -> None:
    token = join_token(**{"growth.dev/managed-by": "growth"})
    prolong = {"stringData": {"expiration": "2099-01-01T00:00:00Z"}}

    assert "bootstrap-token-abcdef" in asked(stolen, "POST", SECRETS, token)
    path = f"{SECRETS}/bootstrap-token-abcdef"
    assert "expiration" in asked(stolen, "PATCH", path, prolong, content_type=MERGE_PATCH)
    assert '"status":"Success"' in asked(stolen, "DELETE", path, None)


def test_the_tokens_that_node_classes_name_are_read_and_no_other(
    installed: LiveCluster, stolen: Path
) -> None:
    names = {"hetzner": True, "hetzner-join": True, "somebodys": False}
    for name in names:
        made = secret(name)
        made["metadata"]["namespace"] = SYSTEM
        installed.create(made, namespace=SYSTEM)

    path = f"/api/v1/namespaces/{SYSTEM}/secrets"
    seen = {name: '"word"' in asked(stolen, "GET", f"{path}/{name}", None) for name in names}

    installed.kubectl("delete", "secret", *names, "--namespace", SYSTEM)
    assert seen == names
