"""Secrets and configurations in a real API server, which calls a webhook by what they say."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
import yaml
from aiohttp import web
from prometheus_client import CollectorRegistry

from certs import CertsMetrics, keep_certificates
from certs.objects import CONFIGURATIONS, Objects
from certs.tending import tend
from certs.wanted import OWN, SCHEDULER, WEBHOOKS, Policy
from growth.kube.errors import Denied
from growth.kube.transport import connect
from growth.service.tls import Certificates, Files
from tests.certs.build import becomes, leading
from tests.cluster_wide import acting, may, wait_steadily
from tests.live import IN_TIME, ROOT
from tests.service.authority import Authority
from tests.service.build import a_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from certs.objects import CertificatesFound
    from growth.kube.transport import Connection, Response
    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

AT_ONCE = Policy(overlap=timedelta())


class Elsewhen:
    """A connection to an API server whose clock is wrong, or right in another year."""

    def __init__(self, connection: Connection, ahead: timedelta) -> None:
        self._connection = connection
        self._ahead = ahead

    async def request(self, method: str, path: str, **words: Any) -> Response:
        answer = await self._connection.request(method, path, **words)
        date = format_datetime(datetime.now(UTC) + self._ahead, usegmt=True)
        return msgspec.structs.replace(answer, headers={"Date": date})


@pytest.fixture
async def connection(cluster: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        yield connection


@pytest.fixture
async def objects(connection: Connection, namespace: str) -> Objects:
    return _objects(connection, namespace)


def _objects(
    connection: Connection | Elsewhen, namespace: str, policy: Policy = AT_ONCE
) -> Objects:
    # Configurations belong to no namespace: each test has one of its own name.
    leaf = msgspec.structs.replace(WEBHOOKS, configuration=namespace)
    own = msgspec.structs.replace(OWN, leaves=(leaf, *OWN.leaves[1:]))
    return Objects(
        cast("Connection", connection),
        namespace=namespace,
        wanted=(own, SCHEDULER),
        policy=policy,
    )


def configuration(name: str, url: str, *, selector: str) -> dict[str, Any]:
    """It asks about config maps of one namespace, and refuses them when it can't ask."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "maps.growth.dev",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": url},
                "failurePolicy": "Fail",
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": selector}},
                "rules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["configmaps"],
                    }
                ],
                "sideEffects": "None",
                "timeoutSeconds": 5,
            }
        ],
    }


@asynccontextmanager
async def admitting(folder: Path) -> AsyncIterator[str]:
    """A webhook that admits everything, with the certificate in a folder; its address."""

    async def admit(request: web.Request) -> web.Response:
        review = await request.json()
        answer = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({**review, "response": answer})

    application = web.Application()
    application.add_routes([web.post("/", admit)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    certificates = Certificates(a_service(), interval=0.02)
    async with certificates.serving("webhook", Files.pair(folder)) as context:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        try:
            yield f"https://127.0.0.1:{runner.addresses[0][1]}/"
        finally:
            await runner.cleanup()


async def bring(connection: Connection, namespace: str, folder: Path) -> None:
    """What the kubelet does."""
    path = f"/api/v1/namespaces/{namespace}/secrets/{WEBHOOKS.name}"
    data = (await connection.request("GET", path)).json()["data"]
    for name in ("tls.crt", "tls.key"):
        (folder / name).write_bytes(base64.b64decode(data[name]))
    await asyncio.sleep(0.2)


async def is_told(cluster: LiveCluster, namespace: str, expected: str) -> None:
    """What a config map meets in the end that the webhook is asked about; nothing if it may come.

    The API server takes a moment to hear of a new configuration.
    """
    words = ("create", "configmap", "asked", "--dry-run=server", "--namespace", namespace)
    told: str | None = None
    async with asyncio.timeout(IN_TIME):
        while told is None or (expected not in told if expected else told):
            told = (await asyncio.to_thread(cluster.try_kubectl, *words)).stderr


async def test_the_api_server_calls_the_webhook_before_and_after_a_rotation(
    cluster: LiveCluster,
    connection: Connection,
    objects: Objects,
    namespace: str,
    tmp_path: Path,
) -> None:
    foreign = configuration(f"{namespace}-foreign", "https://127.0.0.1:1/", selector="none")
    cluster.create(foreign)
    before = cluster.get("mutatingwebhookconfiguration", f"{namespace}-foreign")
    async with admitting(tmp_path) as url:
        cluster.create(configuration(namespace, url, selector=namespace))
        try:
            await tend(objects, may_write=leading)
            await bring(connection, namespace, tmp_path)
            await is_told(cluster, namespace, "")
            first = _bundle(cluster, namespace)
            cluster.kubectl(
                *("annotate", "secret", OWN.name, "growth.dev/rotate=now"),
                *("--namespace", namespace),
            )

            done = await tend(objects, may_write=leading)

            steps = [type(write).__name__ for write in done.written]
            assert [step for step in steps if step not in {"Issue", "Spread", "Inject"}] == [
                *("Introduce", "Settle", "Promote", "Settle", "Retire")
            ]
            assert _bundle(cluster, namespace) != first
            await bring(connection, namespace, tmp_path)
            await is_told(cluster, namespace, "")
            kept = _webhook(cluster, namespace)
            wanted = configuration(namespace, url, selector=namespace)["webhooks"][0]
            assert kept["rules"][0]["resources"] == wanted["rules"][0]["resources"]
            assert kept["clientConfig"].keys() == {"url", "caBundle"}
            now = cluster.get("mutatingwebhookconfiguration", f"{namespace}-foreign")
            assert now == before
        finally:
            for name in (namespace, f"{namespace}-foreign"):
                cluster.kubectl("delete", "mutatingwebhookconfiguration", name)


async def test_the_api_server_refuses_a_webhook_of_a_foreign_authority(
    cluster: LiveCluster, objects: Objects, namespace: str, tmp_path: Path
) -> None:
    Authority("foreign").leaf().write_to(tmp_path)
    async with admitting(tmp_path) as url:
        cluster.create(configuration(namespace, url, selector=namespace))
        try:
            await tend(objects, may_write=leading)

            await is_told(cluster, namespace, "certificate signed by unknown authority")
        finally:
            cluster.kubectl("delete", "mutatingwebhookconfiguration", namespace)


async def test_what_has_run_out_a_year_ago_is_good_again_after_one_round(
    connection: Connection, objects: Objects, namespace: str
) -> None:
    years_ago = Elsewhen(connection, timedelta(days=-4 * 365))
    await tend(_objects(years_ago, namespace, Policy()), may_write=leading)
    assert _ends(await objects.read()) < datetime.now(UTC)

    done = await tend(_objects(connection, namespace, Policy()), may_write=leading)

    assert done.problems == ()
    assert _ends(await objects.read()) > datetime.now(UTC) + timedelta(days=89)


@pytest.mark.parametrize(
    "half",
    [
        {"tls.key": base64.b64encode(b"-----BEGIN PRIVATE KEY-----").decode()},
        {"tls.crt": ""},
        {"ca.crt": base64.b64encode(b"what?").decode()},
    ],
)
async def test_a_secret_that_somebody_has_half_written_is_whole_again_after_one_round(
    cluster: LiveCluster, objects: Objects, namespace: str, half: dict[str, str]
) -> None:
    await tend(objects, may_write=leading)
    words = ("patch", "secret", WEBHOOKS.name, "--namespace", namespace, "--type=merge", "-p")
    cluster.kubectl(*words, json.dumps({"data": half}))

    done = await tend(objects, may_write=leading)

    assert done.found is not None
    leaf = done.found.state[0].leaves[0]
    assert leaf.pair is not None
    assert leaf.bundle == done.found.state[0].authority.bundle


async def test_a_missing_namespace_is_told_with_its_remedy(connection: Connection) -> None:
    done = await tend(_objects(connection, "nowhere"), may_write=leading)

    assert done.written == ()
    mend = "kubectl create namespace nowhere, or use the namespace that growth runs in"
    assert done.problems == (f"namespace nowhere doesn't exist; run: {mend}",)


async def test_the_rights_of_the_page_are_enough_and_no_more_than_that(
    cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    role, cluster_role = _rights(namespace)
    cluster.create(role, _bound(role, namespace), namespace=namespace)
    cluster.create(configuration(namespace, "https://127.0.0.1:1/", selector="none"))
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(_as_nobody(cluster, namespace))

    def has_rights() -> bool:
        own = f"mutatingwebhookconfigurations/{namespace}"
        return may(cluster, "get", own, account=f"{namespace}:default")

    try:
        with acting(cluster, cluster_role, _bound(cluster_role, namespace), acts=has_rights):
            wait_steadily(lambda: _may_make_secrets(cluster, namespace), "the rights of the role")
            await _are_enough(kubeconfig, namespace)
    finally:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", namespace)


def _may_make_secrets(cluster: LiveCluster, namespace: str) -> bool:
    account = f"{namespace}:default"
    return may(cluster, "create", "secrets", account=account, namespace=namespace)


async def _are_enough(kubeconfig: Path, namespace: str) -> None:
    async with await connect(kubeconfig=kubeconfig, process="test") as connection:
        done = await tend(_objects(connection, namespace), may_write=leading)

        assert done.problems == ()
        assert len(done.written) == 7
        with pytest.raises(Denied):
            await connection.request("GET", f"/api/v1/namespaces/{namespace}/secrets")
        with pytest.raises(Denied):
            await connection.request("GET", f"{CONFIGURATIONS}/{namespace}-foreign")


def _bound(role: dict[str, Any], namespace: str) -> dict[str, Any]:
    """A role, given to the account of the namespace's pods."""
    place = {"namespace": namespace} if role["kind"] == "Role" else {}
    return {
        "apiVersion": role["apiVersion"],
        "kind": f"{role['kind']}Binding",
        "metadata": {"name": role["metadata"]["name"], **place},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": role["kind"],
            "name": role["metadata"]["name"],
        },
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    }


def _rights(namespace: str) -> list[dict[str, Any]]:
    """Those of the page, for the namespace and the configuration of a test."""
    page = (ROOT / "docs" / "concepts" / "certificates.md").read_text("utf-8")
    [block] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    role, cluster_role = yaml.safe_load_all(block)
    role["metadata"]["namespace"] = namespace
    cluster_role["metadata"]["name"] = f"{namespace}-certs"
    assert cluster_role["rules"][0]["resourceNames"] == [WEBHOOKS.configuration]
    cluster_role["rules"][0]["resourceNames"] = [namespace]
    return [role, cluster_role]


async def test_missing_rights_are_told_and_end_nothing(
    cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(_as_nobody(cluster, namespace))
    registry = CollectorRegistry()
    async with await connect(kubeconfig=kubeconfig, process="test") as connection:
        keeping = asyncio.create_task(
            keep_certificates(
                connection,
                namespace=namespace,
                metrics=CertsMetrics(registry),
                may_write=leading,
            )
        )
        await becomes(lambda: registry.get_sample_value("growth_certs_problems"))

        assert not keeping.done()
        keeping.cancel()
        done = await tend(_objects(connection, namespace), may_write=leading)
        assert "give this user a role with that verb and resource" in done.problems[0]


def _as_nobody(cluster: LiveCluster, namespace: str) -> str:
    """A kubeconfig for an account without any rights."""
    raw = cluster.kubectl("config", "view", "--raw", "--output", "json")
    config = json.loads(raw)
    token = cluster.kubectl("create", "token", "default", "--namespace", namespace).strip()
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    return json.dumps(config)


def _webhook(cluster: LiveCluster, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.get("mutatingwebhookconfiguration", name)["webhooks"][0]
    return found


def _bundle(cluster: LiveCluster, name: str) -> str:
    return str(_webhook(cluster, name)["clientConfig"]["caBundle"])


def _ends(found: CertificatesFound) -> datetime:
    """When the first of all certificates runs out."""
    pairs = [leaf.pair for kept in found.state for leaf in kept.leaves]
    return min(pair.certificate.end for pair in pairs if pair)
