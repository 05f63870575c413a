"""Which Secrets the reconciler's token can't reach though its roles would let it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api.hetznernodeclass import BootstrapKind
from growth.kube.call import MERGE_PATCH
from reconciler.providers.hetzner.bootstrap.tokens import JoinToken, token_secret
from tests.cluster_wide import may, wait_steadily
from tests.live import wait_until
from tests.manifests.asking import asked, request, stolen_from
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM, Object

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

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
    return stolen_from(installed, "growth-reconciler", tmp_path / "stolen")


def secret(name: str, kind: str = "Opaque") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "kube-system"}
    data = {"stringData": {"word": "a-secret"}}
    return {"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, **data}


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


SOON: Final = timedelta(minutes=10)
GROUP: Final = "system:bootstrappers:kubeadm:default-node-token"


MACHINE: Final = "pool-3f0c8a52-5d0e-4c1b-9a67-0d2b54ce91aa"


def own_token(
    lives: timedelta = SOON,
    *,
    kind: BootstrapKind = BootstrapKind.KUBEADM,
    uid: str = "6a7e3c5e-9a4b-4a53-8f5c-3e1d4f7b2a90",
) -> Object:
    """As growth makes it."""
    return token_secret(
        JoinToken(id="abcdef", secret="0123456789abcdef"),
        request_name=MACHINE,
        request_uid=uid,
        kind=kind,
        expires_at=datetime.now(UTC) + lives,
    )


def changed(token: Object, **data: str) -> Object:
    return {**token, "stringData": {**token["stringData"], **data}}


EVIL: Final[dict[str, Object]] = {
    "administrators": changed(own_token(), **{"auth-extra-groups": "system:bootstrappers:masters"}),
    "more": changed(own_token(), **{"auth-extra-groups": f"{GROUP},system:bootstrappers:other"}),
    "a year": own_token(timedelta(days=365)),
    "two days": own_token(timedelta(days=2)),
    "some day": changed(own_token(), expiration="2999"),
    "an offset": changed(own_token(), expiration="2030-01-01T00:00:00+14:00"),
    "an innocent purpose": changed(own_token(), description="for the monitoring"),
    "no request": {**own_token(), "metadata": {**own_token()["metadata"], "ownerReferences": []}},
    "a place for data": changed(own_token(), loot="x"),
}


@pytest.mark.parametrize("evil", EVIL)
def test_a_join_token_is_good_for_one_machine_that_joins_soon(stolen: Path, evil: str) -> None:
    answer = asked(stolen, "POST", f"{SECRETS}?dryRun=All", EVIL[evil])

    assert "a join token of growth" in answer


def test_a_join_token_that_never_expires_is_none_of_growths(stolen: Path) -> None:
    token = own_token()
    del token["stringData"]["expiration"]

    assert "expires within 25 hours" in asked(stolen, "POST", f"{SECRETS}?dryRun=All", token)


@pytest.mark.parametrize("kind", BootstrapKind)
def test_each_way_of_joining_gets_its_token(stolen: Path, kind: BootstrapKind) -> None:
    answer = asked(stolen, "POST", f"{SECRETS}?dryRun=All", own_token(kind=kind))

    assert '"name":"bootstrap-token-abcdef"' in answer


def test_a_join_token_is_made_prolonged_and_withdrawn(installed: LiveCluster, stolen: Path) -> None:
    installed.create(request(MACHINE))
    uid = installed.get("noderequest", MACHINE)["metadata"]["uid"]
    path = f"{SECRETS}/bootstrap-token-abcdef"

    assert "bootstrap-token-abcdef" in asked(stolen, "POST", SECRETS, own_token(uid=uid))
    for life, answer in ((timedelta(hours=24), "expiration"), (timedelta(hours=26), "25 hours")):
        prolong = {"stringData": {"expiration": own_token(life)["stringData"]["expiration"]}}
        assert answer in asked(stolen, "PATCH", path, prolong, content_type=MERGE_PATCH)
    assert '"status":"Success"' in asked(stolen, "DELETE", path, None)
    installed.kubectl("delete", "noderequest", MACHINE)


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
