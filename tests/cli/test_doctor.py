"""`growth doctor`: on a real cluster, on ones that are wrong in some way, and on none."""

from __future__ import annotations

import copy
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typing_extensions import override

from growth.api import crd
from growth.cli.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

SERVED = [{"type": "Established", "status": "True"}]


class Answers(dict[str, Any]):
    """What a stand-in for the API server answers, by path; everything else is 404."""

    def install(self, **changes: Any) -> None:
        """Every definition of ours, as an API server that serves it shows it."""
        for definition in copy.deepcopy(list(crd.definitions().values())):
            definition["status"] = {"conditions": SERVED}
            self.place(definition, **changes)

    def place(self, definition: dict[str, Any], **changes: Any) -> None:
        name = definition["metadata"]["name"]
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        self[path] = definition | changes

    def be_version(self, version: str) -> None:
        major, minor, _ = version.split(".")
        self["/version"] = {"gitVersion": f"v{version}", "major": major, "minor": minor}


@pytest.fixture
def answers() -> Answers:
    answers = Answers()
    answers.be_version("1.34.2")
    answers.install()
    return answers


@pytest.fixture
def kubeconfig(answers: Answers, tmp_path: Path) -> Iterator[str]:
    """A cluster that answers as it is told."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path)
            body = json.dumps(found or {"kind": "Status", "code": 404}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield kubeconfig_for(tmp_path, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


def kubeconfig_for(folder: Path, server: str) -> str:
    path = folder / "kubeconfig.yaml"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


def examined(capsys: pytest.CaptureFixture[str], kubeconfig: str) -> tuple[int, list[Any]]:
    code = main(["doctor", "--kubeconfig", kubeconfig, "-o", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_cluster_with_everything_is_well(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    code, findings = examined(capsys, kubeconfig)
    assert code == 0
    assert [(finding["subject"], finding["level"]) for finding in findings] == [
        ("cluster", "ok"),
        ("objects", "ok"),
    ]


@pytest.mark.parametrize(
    ("version", "level", "code"),
    [("1.30.9", "FAIL", 1), ("1.31.0", "ok", 0), ("1.36.3", "ok", 0), ("1.37.1", "warn", 0)],
)
def test_the_version_of_the_cluster_is_judged(
    capsys: pytest.CaptureFixture[str],
    kubeconfig: str,
    answers: Answers,
    version: str,
    level: str,
    code: int,
) -> None:
    answers.be_version(version)
    assert (code, level) == (
        (found := examined(capsys, kubeconfig))[0],
        found[1][0]["level"],
    )


def test_a_missing_an_unserved_and_a_foreign_definition_are_named_with_the_remedy(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, answers: Answers
) -> None:
    missing, unserved, foreign, *_ = copy.deepcopy(list(crd.definitions().values()))
    foreign["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].pop("spec")
    answers.place(unserved, status={"conditions": []})
    answers.place(foreign, status={"conditions": SERVED})
    answers.pop(next(path for path in answers if path.endswith(missing["metadata"]["name"])))
    code, findings = examined(capsys, kubeconfig)
    assert code == 1
    assert [finding["text"] for finding in findings if finding["level"] == "FAIL"] == [
        f"{missing['metadata']['name']} is not installed",
        f"{unserved['metadata']['name']} is installed, but the API server doesn't serve it",
        f"{foreign['metadata']['name']} is of another version of growth",
    ]
    assert all("kubectl apply" in finding["hint"] for finding in findings[1:])


def test_people_read_a_line_for_each_finding_and_a_hint_below_what_failed(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, answers: Answers
) -> None:
    answers.be_version("1.29.0")
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 1
    first, hint, last = capsys.readouterr().out.splitlines()
    assert first.startswith(" FAIL  cluster          Kubernetes 1.29.0 at http://127.0.0.1:")
    assert hint.strip().startswith("hint: upgrade the cluster")
    assert last == " ok    objects          5 kinds, v1alpha1"


BLOCKED = {"reason": "AccessRefused", "message": "Secret growth-system/hetzner isn't there"}
DOUBT = {"type": "PricesBelieved", "reason": "Implausible", "message": "cx23: it costs nothing"}


@pytest.mark.parametrize(
    ("status", "code", "level", "text"),
    [
        ({}, 0, "warn", "nobody has asked its cloud yet"),
        ({"observedGeneration": 1}, 0, "ok", "machines can be made with it"),
        ({"observedGeneration": 1, "blocked": BLOCKED}, 1, "FAIL", BLOCKED["message"]),
        ({"observedGeneration": 1, "conditions": [DOUBT]}, 0, "warn", DOUBT["message"]),
    ],
)
def test_each_node_class_is_told_as_its_cloud_has_said(
    capsys: pytest.CaptureFixture[str],
    kubeconfig: str,
    answers: Answers,
    status: dict[str, Any],
    code: int,
    level: str,
    text: str,
) -> None:
    there = {"metadata": {"name": "big"}, "status": status}
    answers["/apis/growth.dev/v1alpha1/hetznernodeclasses"] = {"items": [there]}

    exit_code, (*_, finding) = examined(capsys, kubeconfig)

    assert exit_code == code
    told = (finding["subject"], finding["level"], finding["text"])
    assert told == ("class big", level, text)


def nobody_listens(folder: Path) -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return kubeconfig_for(folder, f"http://127.0.0.1:{taken.getsockname()[1]}")


def test_without_a_cluster_one_line_says_so_within_five_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    started = time.monotonic()
    assert main(["doctor", "--kubeconfig", nobody_listens(tmp_path)]) == 1
    assert time.monotonic() - started < 5
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line


def test_a_cluster_that_never_answers_is_given_up_within_five_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        assert main(["doctor", "--kubeconfig", kubeconfig_for(tmp_path, address)]) == 1
        assert time.monotonic() - started < 5
    (line,) = capsys.readouterr().err.splitlines()
    assert "no answer within 4 s" in line


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "missing.yaml"), ("a: [", "broken.yaml"), ("apiVersion: v1\nkind: Config\n", "broken")],
)
def test_a_kubeconfig_that_cannot_be_used_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str | None, said: str
) -> None:
    path = tmp_path / ("missing.yaml" if content is None else "broken.yaml")
    if content is not None:
        path.write_text(content)
    assert main(["doctor", "--kubeconfig", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.cluster
def test_a_real_cluster_is_well_once_the_printed_definitions_are_applied(
    capsys: pytest.CaptureFixture[str], cluster: LiveCluster
) -> None:
    assert main(["crds"]) == 0
    cluster.kubectl("apply", "--server-side", "-f", "-", input=capsys.readouterr().out)
    cluster.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=20s")
    code, findings = examined(capsys, str(cluster.kubeconfig))
    assert code == 0, findings
    assert findings[0]["text"].startswith("Kubernetes 1.36.3 at https://127.0.0.1:")
