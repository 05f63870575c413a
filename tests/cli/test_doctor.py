"""`growth doctor`: on a real cluster, on ones that are wrong in some way, and on none."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main
from kwok.growing import DEFINITIONS, are_established
from tests.cli.installed import Cluster
from tests.cli.serving import served
from tests.live import wait_until
from tests.quickest import takes_at_most

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    """An API server of an old version, which knows of nothing and allows everything."""
    with served(Cluster(version_said="1.29.0"), tmp_path) as path:
        yield path


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


def test_people_read_a_line_for_each_finding_and_a_hint_below_what_failed(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    assert main(["doctor", "--kubeconfig", kubeconfig]) == 1

    first, hint, clock, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith(" FAIL  cluster          Kubernetes 1.29.0 at http://127.0.0.1:")
    assert hint.strip().startswith("hint: upgrade the cluster")
    assert clock.startswith(" ok    clock            within 30 s")
    assert last == " ok    your rights      enough to install growth"


def test_programs_read_the_same(capsys: pytest.CaptureFixture[str], kubeconfig: str) -> None:
    code, (first, *_) = examined(capsys, kubeconfig)

    assert code == 1
    assert first.keys() == {"level", "subject", "text", "hint"}
    assert (first["level"], first["subject"]) == ("FAIL", "cluster")


def nobody_listens(folder: Path) -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return kubeconfig_for(folder, f"http://127.0.0.1:{taken.getsockname()[1]}")


def test_without_a_cluster_one_line_says_so_within_five_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def ask() -> None:
        assert main(["doctor", "--kubeconfig", nobody_listens(tmp_path)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "http://127.0.0.1:" in line

    assert takes_at_most(5, ask)


def test_a_cluster_that_never_answers_is_given_up_within_five_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"

        def ask() -> None:
            assert main(["doctor", "--kubeconfig", kubeconfig_for(tmp_path, address)]) == 1
            (line,) = capsys.readouterr().err.splitlines()
            assert "no answer within 3 s" in line

        assert takes_at_most(5, ask)


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
    wait_until(lambda: are_established(cluster.kubectl(*DEFINITIONS)), "all definitions are served")
    code, findings = examined(capsys, str(cluster.kubeconfig))
    assert code == 0, findings
    assert findings[0]["text"].startswith("Kubernetes 1.36.3 at https://127.0.0.1:")
