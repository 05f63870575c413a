"""`growth install`, and `growth crds check` and `apply`, as an administrator meets them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from growth.cli.__main__ import main
from growth.installation.definitions import is_established
from kwok.ports import free_port
from tests.faults.upstream import kubeconfig_to
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM
from tests.thread.growing import reconciling

if TYPE_CHECKING:
    from pathlib import Path

    from tests.live import LiveCluster

CRD = "customresourcedefinition"
POOLS = "nodepools.growth.dev"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ("provider: hetzer", "provider: input should be 'hetzner' or 'kwok'"),
        ("replica: {}", "replica: no such value; see growth install --help"),
        ("replicas: {webhooks: many}", "replicas.webhooks: input should be a valid integer"),
        ("resources: {webhooks: {limits: {cpu: 1}}}", "resources.webhooks.requests: field req"),
        ("images: {servers: 'no image'}", "images.servers: string should match pattern"),
        ("[a, b]", "expected names and values, such as provider: kwok"),
        ("a: [", "not valid YAML"),
        ("{joinApproval: Growth, certificates: external}", "joinApproval: growth needs provider"),
    ],
)
def test_wrong_values_are_told_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], values: str, told: str
) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(values)

    assert main(["install", "--values", str(file), "--kubeconfig", "/nowhere"]) == 2

    assert f"{file}: {told}" in capsys.readouterr().err


def test_a_provider_that_a_value_does_not_go_with_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("joinApproval: Growth")

    assert main(["install", "--values", str(file), "--for", "kwok"]) == 2

    told = "--for kwok: joinApproval: growth needs provider: hetzner and certificates: managed\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--values", "/nowhere.yaml"), "--values /nowhere.yaml: no such file or directory"),
        (("--wait", "soon"), '--wait: "soon"'),
    ],
)
def test_wrong_words_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    assert main(["install", *words]) == 2

    [line] = capsys.readouterr().err.splitlines()
    assert told in line


@pytest.mark.parametrize(
    "words", [("install",), ("install", "--dry-run"), ("uninstall", "--machines", "keep")]
)
def test_that_there_is_no_cluster_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    address = f"https://127.0.0.1:{free_port()}"
    (tmp_path / "config").write_text(kubeconfig_to(address))

    assert main([*words, "--kubeconfig", str(tmp_path / "config")]) == 1

    [line] = capsys.readouterr().err.splitlines()
    assert f"{address}: " in line


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, False),
        ({"conditions": None}, False),
        ({"conditions": [{"type": "Established", "status": "False"}]}, False),
        ({"conditions": [{"type": "Established", "status": "True"}]}, True),
    ],
)
def test_a_definition_is_served_when_the_api_server_says_so(
    status: dict[str, Any], *, expected: bool
) -> None:
    assert is_established({"status": status}) is expected


@pytest.mark.cluster
class TestOnARealServer:
    def test_a_rehearsal_says_everything_and_stores_nothing(
        self, bare: LiveCluster, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = ("--for", "hetzner", "--namespace", "rehearsed", "--dry-run")
        assert grow(bare, "install", *words) == 0

        told = capsys.readouterr().out
        assert "created    Namespace rehearsed" in told
        assert "created    Deployment growth-reconciler" in told
        assert grow(bare, "install", *words, "-o", "json") == 0
        document = json.loads(capsys.readouterr().out)
        assert [*document] == [line.split(maxsplit=1)[1] for line in told.splitlines()]
        assert document["Namespace rehearsed"] == "created"
        assert bare.try_kubectl("get", "namespace", "rehearsed").returncode == 1

    def test_what_does_not_come_is_named(
        self, installed: LiveCluster, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert grow(installed, "install", "--for", "kwok", "--wait", "1ms") == 1

        told = capsys.readouterr().err
        assert "Lease growth-reconciler: no reconciler leads yet" in told
        assert (
            "MutatingWebhookConfiguration growth-webhooks: the API server doesn't trust it" in told
        )
        assert "hint: kubectl --namespace growth-system get pods" in told

    def test_it_ends_when_everything_works_and_again_changes_nothing(
        self, installed: LiveCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        settings = {"GROWTH_LEASE_NAMESPACE": SYSTEM}
        with reconciling(installed, tmp_path / "log", **settings):
            assert grow(installed, "install", "--for", "kwok", "--wait", "60s") == 0
            assert (
                "growth is ready: all processes run, one reconciler leads"
                in capsys.readouterr().out
            )
            before = installed.get("mutatingwebhookconfiguration", "growth-webhooks")

            assert grow(installed, "install", "--for", "kwok", "--wait", "60s") == 0

        after = installed.get("mutatingwebhookconfiguration", "growth-webhooks")
        assert before["webhooks"][0]["clientConfig"]["caBundle"]
        assert after["webhooks"] == before["webhooks"]
        told = capsys.readouterr().out.splitlines()
        assert told[0] == "definitions  6 unchanged"
        assert "changed" not in told[1].replace("unchanged", "")

    @pytest.mark.long
    def test_a_choice_arrives_where_it_counts(self, installed: LiveCluster, tmp_path: Path) -> None:
        file = tmp_path / "values.yaml"
        file.write_text("provider: kwok\nlogLevel: debug\nreplicas: {webhooks: 3}\n")
        try:
            assert grow(installed, "install", "--values", str(file), "--wait", "0s") == 0

            webhooks = installed.get("deployment", "growth-webhooks", "--namespace", SYSTEM)
            assert webhooks["spec"]["replicas"] == 3
            [container] = webhooks["spec"]["template"]["spec"]["containers"]
            assert {"name": "GROWTH_LOG_LEVEL", "value": "debug"} in container["env"]
        finally:
            assert grow(installed, "install", "--for", "kwok", "--wait", "0s") == 0

    def test_a_choice_that_the_cluster_can_not_serve_is_named(
        self, installed: LiveCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "values.yaml"
        file.write_text("provider: kwok\nmonitoring: true\n")

        assert grow(installed, "install", "--values", str(file), "--wait", "0s") == 2

        assert "`monitoring: true` requires the Prometheus operator" in capsys.readouterr().err

    def test_a_definition_is_never_narrowed(
        self, installed: LiveCluster, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spec = ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec")
        added = {"op": "add", "path": f"/{'/'.join(map(str, spec))}/properties/ofTomorrow"}
        patch = json.dumps([{**added, "value": {"type": "string"}}])
        installed.kubectl("patch", CRD, POOLS, "--type=json", "--patch", patch)
        try:
            line = "spec.ofTomorrow: is removed, with its stored values"
            assert grow(installed, "crds", "check") == 1
            assert f"narrower  {line}" in capsys.readouterr().out
            for command in (("crds", "apply"), ("install", "--wait", "0s")):
                assert grow(installed, *command) == 1
                assert f"{POOLS}: {line}" in capsys.readouterr().err
            assert has_tomorrow(installed.get(CRD, POOLS))
        finally:
            back = json.dumps([{"op": "remove", "path": added["path"]}])
            installed.kubectl("patch", CRD, POOLS, "--type=json", "--patch", back)
        assert grow(installed, "crds", "check") == 0
        assert grow(installed, "crds", "apply") == 0


def has_tomorrow(definition: dict[str, Any]) -> bool:
    return "ofTomorrow" in json.dumps(definition["spec"])
