"""Tokens: read from Secrets when they change, minted for each server, and told to nobody."""

from __future__ import annotations

import base64
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from prometheus_client import generate_latest
from typing_extensions import override

from growth.api.meta import KeyReference
from growth.errors import Misconfigured
from growth.kube.errors import AlreadyExists, Refused
from growth.kube.transport import Connection, Response, connect
from reconciler.providers.hetzner.cluster_secrets import FRESH_FOR, ClusterSecrets
from tests.hetzner.build import JOIN_TOKEN, K3S, node_class, order
from tests.hetzner.conftest import TOKEN
from tests.hetzner.fake.faults import STATUSES, Fault, Kind
from tests.reconciler.build import at
from tests.thread.growing import install_definitions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from growth.instant import Instant
    from tests.hetzner.story import Story
    from tests.live import LiveCluster

MARK = "a-mark-in-the-user-data"
CUSTOM = {
    "kind": "Custom",
    "template": f"# {MARK}\n$(growth.token) $(growth.nodeName) $(growth.nodeLabels) "
    "$(growth.nodeTaints)",
}


def pieces(secret: str) -> list[str]:
    """What no text may have in it."""
    return [secret[start : start + 8] for start in range(len(secret) - 7)]


@pytest.mark.parametrize("bootstrap", [K3S, CUSTOM], ids=lambda each: each["kind"])
async def test_no_secret_is_in_any_log_metric_or_answer_whatever_goes_wrong(
    story: Story,
    bootstrap: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    story.uses(bootstrap=bootstrap)
    told: list[object] = []
    faults = [
        *(Fault(call="*", code=code, message=f"for {TOKEN[:20]}...") for code in STATUSES),
        *(
            Fault(call="POST /servers", code=code, message=f"{TOKEN} sent {JOIN_TOKEN}")
            for code in STATUSES
        ),
        *(Fault(call=call, kind=kind) for kind in Kind for call in ("*", "POST /servers")),
    ]
    for number, fault in enumerate(faults):
        story.project.faults.add(fault)
        told += [await story.create(f"default-{number}"), await story.provider.list()]
        story.project.pass_time(61)
    story.project.bucket.left = 0
    told += [await story.create("default-last"), await story.provider.check()]
    for machine in (await story.provider.list()).machines.values():
        told.append(await story.delete(machine))

    metrics = generate_latest(story.registry).decode()
    text = f"{told} {caplog.text} {capsys.readouterr()} {metrics}"
    assert len(told) > 80
    assert "[redacted]" in text
    for secret in (*pieces(TOKEN), *pieces(JOIN_TOKEN), MARK):
        assert secret not in text


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> Instant:
        return at(self.seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def connection(cluster: LiveCluster) -> AsyncIterator[Connection]:
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        yield connection


@pytest.fixture
def secrets(connection: Connection, clock: Clock) -> ClusterSecrets:
    life = timedelta(minutes=10)
    return ClusterSecrets(connection, now=clock, token_life=lambda _: life)


def kept(namespace: str, key: str = "token") -> KeyReference:
    return KeyReference(namespace=namespace, name="hetzner", key=key)


@pytest.mark.cluster
async def test_a_secret_that_changes_is_seen_soon(
    cluster: LiveCluster, namespace: str, secrets: ClusterSecrets, clock: Clock
) -> None:
    document = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hetzner"}}
    cluster.create(document | {"stringData": {"token": "first"}}, namespace=namespace)
    first = await secrets.read(kept(namespace))

    second = '{"stringData":{"token":"second"}}'
    cluster.kubectl("--namespace", namespace, "patch", "secret", "hetzner", "--patch", second)

    clock.seconds += FRESH_FOR
    assert (first, await secrets.read(kept(namespace))) == ("first", "second")


@pytest.mark.cluster
async def test_a_secret_that_is_missing_says_how_to_mend_it(
    cluster: LiveCluster, namespace: str, secrets: ClusterSecrets
) -> None:
    with pytest.raises(Misconfigured, match="hetzner doesn't exist: create it with the key token"):
        await secrets.read(kept(namespace))

    document = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hetzner"}}
    binary = base64.b64encode(b"\xff\xfe").decode()
    cluster.create(document | {"data": {"binary": binary}}, namespace=namespace)

    with pytest.raises(Misconfigured, match="has no key token: add it"):
        await secrets.read(kept(namespace))
    with pytest.raises(Misconfigured, match="isn't valid text: write it again"):
        await secrets.read(kept(namespace, "binary"))


def _owner(cluster: LiveCluster, name: str) -> str:
    """The uid of a request that is there, or the garbage collector would take its Secret."""
    install_definitions(cluster)
    spec = {
        "pool": "default",
        "targetOffering": "hetzner-cx23",
        "serverType": "cx23",
        "location": "nbg1",
        "price": "0.0088",
    }
    cluster.create(
        {
            "apiVersion": "growth.dev/v1alpha1",
            "kind": "NodeRequest",
            "metadata": {"name": name},
            "spec": spec,
        }
    )
    uid: str = cluster.get("noderequest", name)["metadata"]["uid"]
    return uid


@pytest.mark.cluster
async def test_an_order_that_is_tried_again_joins_with_the_same_token_for_longer(
    cluster: LiveCluster, namespace: str, secrets: ClusterSecrets, clock: Clock
) -> None:
    name = f"default-{uuid4()}"
    wanted = order(name, request_uid=_owner(cluster, name))
    first = await secrets.join_token(wanted, node_class())
    clock.seconds += 300

    again = await secrets.join_token(wanted, node_class())

    name = f"bootstrap-token-{first.partition('.')[0]}"
    stored = cluster.get("--namespace", "kube-system", "secret", name)
    cluster.kubectl("delete", "noderequest", wanted.name)
    assert again == first
    assert base64.b64decode(stored["data"]["expiration"]).decode() == "2026-01-01T00:15:00Z"
    assert stored["type"] == "bootstrap.kubernetes.io/token"


class Strict(Connection):
    """An API server that lets no token be prolonged, as one whose policy bounds its life."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}

    @override
    async def request(self, method: str, path: str, **given: Any) -> Response:
        if method == "PATCH":
            raise Refused("a join token expires within 25 hours of its creation")
        if method == "DELETE":
            self.stored = {}
        elif self.stored:
            raise AlreadyExists(path)
        else:
            self.stored = given["body"]["stringData"]
        return Response(status=200, headers={}, body=b"{}")


async def test_a_token_that_may_not_live_longer_is_made_anew(clock: Clock) -> None:
    server = Strict()
    secrets = ClusterSecrets(server, now=clock, token_life=lambda _: timedelta(minutes=10))
    wanted = order("default-1", request_uid="1")
    first = await secrets.join_token(wanted, node_class())
    clock.seconds += 86400

    again = await secrets.join_token(wanted, node_class())

    assert again != first
    assert again == f"{server.stored['token-id']}.{server.stored['token-secret']}"
    assert server.stored["expiration"] == "2026-01-02T00:10:00Z"


@pytest.mark.cluster
async def test_a_join_token_ends_with_its_order_and_the_others_stay(
    cluster: LiveCluster, namespace: str, connection: Connection, clock: Clock
) -> None:
    life = timedelta(minutes=10)
    done: list[str] = []
    secrets = ClusterSecrets(
        connection, now=clock, token_life=lambda _: life, done=lambda: ["never-minted", *done]
    )
    names = [f"default-{uuid4()}", f"default-{uuid4()}"]
    first, other = [order(name, request_uid=_owner(cluster, name)) for name in names]
    tokens = [await secrets.join_token(each, node_class()) for each in (first, other)]
    await secrets.withdraw_join_tokens()

    done.append(first.request_uid)
    await secrets.withdraw_join_tokens()
    await secrets.withdraw_join_tokens()

    stored = [f"bootstrap-token-{token.partition('.')[0]}" for token in tokens]
    secret = ("--namespace", "kube-system", "get", "secret")
    found = [cluster.try_kubectl(*secret, name).returncode == 0 for name in stored]
    cluster.kubectl("delete", "noderequest", *names)
    assert found == [False, True]
