from __future__ import annotations

import asyncio
import base64
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from aiohttp import web
from kubernetes.aio.config import incluster_config
from structlog.testing import capture_logs

import growth
from growth.errors import GiveUp, Misconfigured, RetryLater
from growth.kube import credentials, kubeconfig
from growth.kube.errors import Denied, NotFound, Overloaded, Unreachable
from growth.kube.transport import Connection, connect
from tests.kube.listening import Answer, listening, status
from tests.kube.listening import kubeconfig as text_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.live import LiveCluster

CANARY = "canary-3f9a7c21"


@pytest.fixture(autouse=True)
def _no_other_way_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def connected(tmp_path: Path, answer: Answer, **user: Any) -> AsyncIterator[Connection]:
    async with listening(answer) as server:
        file = tmp_path / "config"
        file.write_text(text_of(server, **user))
        async with await connect(kubeconfig=file, process="test") as connection:
            yield connection


def json_answer(body: object, code: int = 200, **headers: str) -> web.Response:
    return web.json_response(body, status=code, headers=headers)


async def test_a_request_says_who_asks_and_wants_its_answer_as_it_is(tmp_path: Path) -> None:
    seen: list[web.BaseRequest] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append(request)
        return json_answer({"kind": "PodList"})

    async with connected(tmp_path, answer, token=CANARY) as connection:
        response = await connection.request("GET", "/api/v1/pods", query={"limit": "5"})

    assert response.json() == {"kind": "PodList"}
    [request] = seen
    assert request.path_qs == "/api/v1/pods?limit=5"
    assert request.headers["User-Agent"] == f"growth/{growth.__version__} (test)"
    assert request.headers["Accept-Encoding"] == "identity"
    assert request.headers["Authorization"] == f"Bearer {CANARY}"


@pytest.mark.parametrize("name", ["..", "../nodes", "a?b=", "a#", "%2e%2e", "a\r\nb", "a b", "ä"])
async def test_a_name_that_would_change_the_path_is_never_sent(tmp_path: Path, name: str) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return json_answer({"path": request.path})

    async with connected(tmp_path, answer) as connection:
        path = f"/api/v1/namespaces/{name}/secrets/token"
        with pytest.raises(GiveUp, match="a name in it isn't allowed"):
            await connection.request("GET", path)
        with pytest.raises(GiveUp, match="a name in it isn't allowed"):
            async with connection.stream(path, query={}):
                pass


@pytest.mark.parametrize(
    "path",
    [
        "/version",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
        "/api/v1/namespaces/a/pods/http:web-0.x:10281/proxy/metrics",
    ],
)
async def test_every_name_that_kubernetes_allows_is_sent(tmp_path: Path, path: str) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return json_answer({"path": request.path})

    async with connected(tmp_path, answer) as connection:
        assert (await connection.request("GET", path)).json() == {"path": path}


@pytest.mark.parametrize(
    ("body", "sent"),
    [(b'{"a": 1}', b'{"a": 1}'), ({"a": 1}, b'{"a":1}'), ([1], b"[1]"), (None, b"")],
)
async def test_bytes_are_sent_as_they_are_and_all_else_as_json(
    tmp_path: Path, body: object, sent: bytes
) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        kind = request.headers.get("Content-Type", "")
        return json_answer({"sent": (await request.read()).decode(), "kind": kind})

    async with connected(tmp_path, answer) as connection:
        response = await connection.request(
            "PATCH", "/api/v1/nodes/n", body=body, content_type="application/json-patch+json"
        )

    kind = "application/json-patch+json" if body is not None else "application/octet-stream"
    assert response.json() == {"sent": sent.decode(), "kind": kind}


async def test_an_answer_that_does_not_come_is_given_up_in_time(tmp_path: Path) -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        await asyncio.sleep(30)
        return json_answer({})

    async with connected(tmp_path, answer) as connection:
        with pytest.raises(Unreachable, match=r"list pods: .* no answer within 0.05 s"):
            await connection.request("GET", "/api/v1/pods", timeout=0.05)
        with pytest.raises(Unreachable, match=r"watch pods: .* no answer within 0.05 s"):
            async with connection.stream("/api/v1/pods", query={"watch": "true"}, timeout=0.05):
                pass


async def test_a_stream_that_falls_silent_is_told_from_one_that_lives(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one line\n")
        await asyncio.sleep(30)
        return response

    async with connected(tmp_path, answer) as connection:
        with pytest.raises(Unreachable, match="Timeout on reading"):  # noqa: PT012 - the block is the story
            async with connection.stream("/api/v1/pods", query={}, silence=0.05) as response:
                assert await response.content.readline() == b"one line\n"
                await response.content.readline()


async def test_a_stream_that_is_cut_comes_out_as_unreachable(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"half a li")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with connected(tmp_path, answer) as connection:
        with pytest.raises(Unreachable):
            async with connection.stream("/api/v1/pods", query={}) as response:
                await response.content.read()


async def test_a_refused_watch_is_raised_as_any_request_is(tmp_path: Path) -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return json_answer(status(429), 429, **{"Retry-After": "2"})

    async with connected(tmp_path, answer) as connection:
        with pytest.raises(Overloaded) as caught:
            async with connection.stream("/api/v1/pods", query={}):
                pass

    assert caught.value.after == 2


async def test_a_port_without_a_server_is_unreachable(tmp_path: Path) -> None:
    async with listening(lambda _: pytest.fail("asked")) as server:
        pass
    file = tmp_path / "config"
    file.write_text(text_of(server, token=CANARY))

    async with await connect(kubeconfig=file) as connection:
        with pytest.raises(
            RetryLater,
            match=r"list pods: http://127\.0\.0\.1:\d+: \[Errno 111\] Connect call failed",
        ):
            await connection.request("GET", "/api/v1/pods")


async def test_a_warning_is_told_once_for_each_text(tmp_path: Path) -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return json_answer({}, Warning='299 - "v1 \\"old\\" is deprecated"')

    with capture_logs() as logs:
        async with connected(tmp_path, answer) as connection:
            await connection.request("GET", "/api/v1/pods")
            await connection.request("GET", "/api/v1/pods")

    assert [line["text"] for line in logs] == ['v1 "old" is deprecated']


async def test_a_replaced_token_is_read_when_the_server_rejects_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "SHORTEST", 0.0)
    token = tmp_path / "token"
    token.write_text("old\n")

    async def answer(request: web.BaseRequest) -> web.Response:
        if request.headers["Authorization"] != "Bearer new":
            token.write_text("new\n")
            return json_answer(status(401, reason="Unauthorized"), 401)
        return json_answer({"kind": "PodList"})

    async with connected(tmp_path, answer, tokenFile=str(token)) as connection:
        response = await connection.request("GET", "/api/v1/pods")

    assert response.json() == {"kind": "PodList"}


async def test_a_token_that_cannot_be_read_anew_is_used_as_long_as_it_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "PERIOD", 0.0)
    token = tmp_path / "token"
    token.write_text("old")

    async def answer(request: web.BaseRequest) -> web.Response:
        return json_answer({"sent": request.headers["Authorization"]})

    async with connected(tmp_path, answer, tokenFile=str(token)) as connection:
        token.unlink()
        with capture_logs() as logs:
            response = await connection.request("GET", "/api/v1/pods")

    assert response.json() == {"sent": "Bearer old"}
    assert [line["event"] for line in logs] == ["could not reload the credentials"]


@pytest.mark.cluster
async def test_a_server_that_another_authority_signed_is_a_mistake_not_a_failure(
    tmp_path: Path, cluster: LiveCluster
) -> None:
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority"]
    (tmp_path / "config").write_text(yaml.safe_dump(config))

    async with await connect(kubeconfig=tmp_path / "config") as connection:
        with pytest.raises(Misconfigured, match="isn't that of this server") as caught:
            await connection.request("GET", "/version")
    assert "\n" not in str(caught.value)


async def test_a_proxy_is_used_as_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return json_answer({"asked": str(request.url)})

    (tmp_path / "config").write_text(text_of("http://elsewhere.example.org"))
    async with listening(answer) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        async with await connect(kubeconfig=tmp_path / "config") as connection:
            response = await connection.request("GET", "/version")

    assert response.json() == {"asked": "http://elsewhere.example.org/version"}


async def test_a_token_that_is_really_wrong_is_said_after_the_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "SHORTEST", 0.0)
    asked = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request)
        return json_answer(status(401, reason="Unauthorized", message="Unauthorized"), 401)

    async with connected(tmp_path, answer, token=CANARY) as connection:
        with pytest.raises(Denied, match=r"list pods: Unauthorized .* sign in again"):
            await connection.request("GET", "/api/v1/pods")

    assert len(asked) == 2


async def test_a_plugins_token_is_asked_for_again_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "PERIOD", 0.0)
    plugin = tmp_path / "plugin"
    runs = tmp_path / "runs"
    plugin.write_text(
        f"#!/bin/sh\necho x >> {runs}\n"
        """echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",'\n"""
        """echo '"status": {"token": "fresh", "expirationTimestamp": "2020-01-01T00:00:00Z"}}'\n"""
    )
    plugin.chmod(0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}}

    async def answer(request: web.BaseRequest) -> web.Response:
        return json_answer({"sent": request.headers["Authorization"]})

    async with connected(tmp_path, answer, **user) as connection:
        response = await connection.request("GET", "/api/v1/pods")

    assert response.json() == {"sent": "Bearer fresh"}
    assert runs.read_text().count("x") == 2


async def test_no_text_ever_holds_the_token(tmp_path: Path) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        # A proxy that shows the request it couldn't pass on.
        return web.Response(status=502, text=str(request.headers))

    file = tmp_path / "config"
    with capture_logs() as logs:
        async with connected(tmp_path, answer, token=CANARY) as connection:
            with pytest.raises(Overloaded) as caught:
                await connection.request("GET", "/api/v1/pods")
            shown = [repr(connection), str(vars(caught.value)), str(caught.value), str(logs)]

    file.write_text(text_of("http://127.0.0.1:1", **{"client-key-data": CANARY}))
    with pytest.raises(Misconfigured) as broken:
        await connect(kubeconfig=file.with_name("config"), context=CANARY[::-1])
    assert CANARY not in "".join([*shown, str(broken.value)])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [1\nb: 2", r"config:2: this isn't YAML; "),
        ("- a", r"config: this isn't a kubeconfig; "),
        ("{}", r"config: no current-context; set --context"),
        ("current-context: x", r"config: no context 'x'; available: none"),
        (
            text_of("http://h").replace("current-context: here", "current-context: there"),
            r"config: no context 'there'; available: here",
        ),
        (text_of(""), r"config: the cluster of context 'here' has no server; add its URL"),
        (text_of("http://h").replace("user: u", "user: v"), r"config: no user 'v'; available: u"),
        (
            text_of("https://h", **{"client-certificate": "/gone", "client-key": "/gone"}),
            r"config: the credentials can't be used",
        ),
        (
            text_of(
                "https://h",
                **{
                    "client-certificate-data": base64.b64encode(b"no").decode(),
                    "client-key-data": base64.b64encode(CANARY.encode()).decode(),
                },
            ),
            r"config: its certificates can't be loaded",
        ),
        (
            text_of("http://h", exec={"apiVersion": "v1", "command": "/gone"}),
            r"config: the sign-in program '/gone' gave no credentials; run it by hand",
        ),
    ],
)
async def test_a_bad_kubeconfig_is_told_in_one_line(
    tmp_path: Path, text: str, complaint: str
) -> None:
    (tmp_path / "config").write_text(text)

    with pytest.raises(Misconfigured, match=complaint) as caught:
        await connect(kubeconfig=tmp_path / "config")

    assert "\n" not in str(caught.value)
    assert CANARY not in str(caught.value)


async def test_a_missing_file_is_told_with_the_way_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"nope: No such file or directory; set --kubeconfig"):
        await connect(kubeconfig=tmp_path / "nope")


async def test_without_any_kubeconfig_outside_a_pod_there_is_nothing_to_connect_to() -> None:
    with pytest.raises(Misconfigured, match="no kubeconfig found, and this isn't a pod"):
        await connect()


async def test_the_flag_wins_over_the_environment_and_that_over_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / ".kube"
    home.mkdir(parents=True)
    (home / "config").write_text(text_of("http://home:1"))
    (tmp_path / "listed").write_text(text_of("http://listed:1"))
    (tmp_path / "flag").write_text(text_of("http://user:secret@flag:1/base/"))

    assert (await connect()).server == "http://home:1"
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{tmp_path / 'listed'}")
    assert (await connect()).server == "http://listed:1"
    assert (await connect(kubeconfig=tmp_path / "flag")).server == "http://flag:1/base"


async def test_a_pod_without_its_service_account_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")

    with pytest.raises(Misconfigured, match=r"service account of this pod: .*automount"):
        await connect()


async def test_a_pod_follows_the_token_that_the_kubelet_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr(credentials, "PERIOD", 0.0)
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    token.write_text("first")
    authority.write_text(ssl.DER_cert_to_PEM_cert(_any_authority()))

    connection = await connect()
    before = await connection._credentials.headers()
    token.write_text("second")
    after = await connection._credentials.headers()

    assert connection.server == "https://10.0.0.1:443"
    assert (before, after) == (
        {"Authorization": "bearer first"},
        {"Authorization": "bearer second"},
    )


def _any_authority() -> bytes:
    context = ssl.create_default_context()
    return context.get_ca_certs(binary_form=True)[0]


async def test_a_kind_that_is_missing_is_not_found(tmp_path: Path) -> None:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.Response(status=404, text="404 page not found")

    async with connected(tmp_path, answer) as connection:
        with pytest.raises(NotFound):
            await connection.request("GET", "/apis/growth.dev/v1alpha1/nodepools")


def test_the_default_paths_are_read_when_asked_for_not_when_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "late"))
    assert kubeconfig._paths(None) == (tmp_path / "late",)
