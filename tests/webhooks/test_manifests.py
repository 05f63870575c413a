"""What an administrator applies: taken word by word, and enough for the process to work."""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.api.installed import NAMESPACE, WEBHOOKS
from growth.service import process
from tests.cluster_wide import acting, may
from tests.live import ROOT, wait_until
from tests.webhooks.admitting import serving
from tests.webhooks.reviews import posted
from tests.webhooks.table import TABLE
from webhooks.__main__ import PROCESS
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    from pathlib import Path

    from tests.webhooks.admitting import Admitting

BASE = ROOT / "manifests" / "base"
NODE_POOLS = "nodepools.growth.dev"
DOCUMENTS: dict[str, dict[str, Any]] = {
    each["kind"]: each for each in yaml.safe_load_all((BASE / "webhooks.yaml").read_text("utf-8"))
}
CONTAINER = DOCUMENTS["Deployment"]["spec"]["template"]["spec"]["containers"][0]


def test_the_registration_leads_to_the_service_and_the_service_to_the_process() -> None:
    service = DOCUMENTS["Service"]
    client = configuration()["webhooks"][0]["clientConfig"]["service"]
    [port] = service["spec"]["ports"]

    assert (client["namespace"], client["name"]) == (NAMESPACE, WEBHOOKS)
    assert service["metadata"]["name"] == WEBHOOKS
    assert (client["port"], port["targetPort"]) == (port["port"], "webhook")
    labels = DOCUMENTS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    [listening] = [each for each in CONTAINER["ports"] if each["name"] == "webhook"]
    default = PROCESS.settings.model_fields["webhook_address"].default
    assert listening["containerPort"] == default.port


def test_the_words_of_the_container_are_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert process.main(PROCESS, [*CONTAINER["args"], "--print-settings"]) == 0

    assert "webhook-tls-folder: /tls/webhook  # --webhook-tls-folder" in capsys.readouterr().out


@pytest.mark.cluster
def test_the_api_server_takes_the_manifests_and_their_rights_are_enough(
    admitting: Admitting, tmp_path: Path
) -> None:
    cluster = admitting.cluster
    cluster.try_kubectl("create", "namespace", NAMESPACE)
    for file in ("webhooks.yaml", "webhook.yaml", "admission-policy.yaml"):
        # Under other names, as the tests have registered both already.
        text = re.sub(r"(?m)^  name: ", "  name: new-", (BASE / file).read_text("utf-8"))
        cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", input=text)

    account = DOCUMENTS["ServiceAccount"]
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(account))
    rights = [DOCUMENTS[kind] for kind in ("ClusterRole", "ClusterRoleBinding")]
    name = f"{NAMESPACE}:{account['metadata']['name']}"
    kubeconfig = as_service_account(admitting, tmp_path)
    with (
        acting(cluster, *rights, acts=lambda: may(cluster, "list", NODE_POOLS, account=name)),
        serving(admitting, tmp_path, kubeconfig=kubeconfig) as webhook,
    ):
        (tmp_path / "authority").write_bytes(admitting.authority.certificate)
        tls = ssl.create_default_context(cafile=str(tmp_path / "authority"))
        wait_until(lambda: answers(webhook.url, tls), "reviews are answered")


def as_service_account(setting: Admitting, folder: Path) -> Path:
    """A kubeconfig of the process's own account."""
    account = ("create", "token", "growth-webhooks", "--namespace", NAMESPACE)
    token = setting.cluster.kubectl(*account).strip()
    file = yaml.safe_load(setting.cluster.kubeconfig.read_text())
    file["users"][0]["user"] = {"token": token}
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(file))
    return path


def answers(url: str, tls: ssl.SSLContext) -> bool:
    """Whether the pools are known, for which they have to be read."""
    try:
        with urllib.request.urlopen(url, posted(TABLE[0].before), 20, context=tls) as answer:
            return bool(answer.status == 200)
    except OSError as error:
        # An answer that is a refusal has to be closed.
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        return False
