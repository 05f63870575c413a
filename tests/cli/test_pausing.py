"""`growth pause` and `growth resume`, on a real cluster in which growth itself doesn't run."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from growth.cli.__main__ import main
from growth.foreign_text import parse_time
from tests.thread.growing import install_definitions, pool_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster

UNTIL = "growth.dev/paused-until"


@pytest.fixture(scope="module")
def _definitions(cluster: LiveCluster) -> None:
    install_definitions(cluster)


@pytest.fixture
def pool(cluster: LiveCluster, namespace: str, _definitions: None) -> Iterator[str]:
    name = f"pool-{namespace}"
    cluster.create(pool_of(name))
    yield name
    cluster.kubectl("delete", "nodepool", name, "--wait=false")


@pytest.fixture
def growth(cluster: LiveCluster, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A command's output; it has to succeed."""

    def run(*words: str) -> str:
        code = main([*words, "--kubeconfig", str(cluster.kubeconfig)])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return printed.out

    return run


def annotations_of(cluster: LiveCluster, pool: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.get("nodepool", pool)["metadata"].get("annotations", {})
    return found


def test_a_pool_is_paused_for_a_while_and_resumed(
    cluster: LiveCluster, pool: str, growth: Callable[..., str]
) -> None:
    said = growth("pause", f"pool/{pool}", "--for", "30m", "--reason", "a bill")
    written = annotations_of(cluster, pool)
    lasts = parse_time(written[UNTIL]) - datetime.now(UTC)
    assert timedelta(minutes=28) < lasts <= timedelta(minutes=30)
    assert written["growth.dev/paused-reason"] == "a bill"
    assert said.splitlines()[0].startswith(f"pool {pool} is paused until {written[UNTIL]}")
    assert f"growth resume {pool}" in said
    assert written[UNTIL] in growth("resume", pool)
    assert UNTIL not in annotations_of(cluster, pool)
    assert growth("resume", pool).startswith("nothing to do")


def test_all_pools_are_paused_in_growths_namespace_and_resumed(
    cluster: LiveCluster, namespace: str, growth: Callable[..., str]
) -> None:
    told = json.loads(growth("pause", "-n", namespace, "--reason", "we move", "-o", "json"))
    data = cluster.get("configmap", "growth-pause", "--namespace", namespace)["data"]
    assert data == {"until": told["until"], "reason": "we move"}
    again = json.loads(growth("pause", "-n", namespace, "--for", "2h", "-o", "json"))
    data = cluster.get("configmap", "growth-pause", "--namespace", namespace)["data"]
    assert data == {"until": again["until"]}
    assert again["until"] in growth("resume", "-n", namespace)
    assert growth("resume", "-n", namespace).startswith("nothing to do")


def test_a_pool_that_resumes_while_all_are_paused_is_told_so(
    pool: str, namespace: str, growth: Callable[..., str]
) -> None:
    growth("pause", "-n", namespace)
    assert "hint: all pools are still paused until" in growth("resume", pool, "-n", namespace)


@pytest.mark.usefixtures("_definitions")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pause", "missing"), 'no pool "missing"'),
        (("resume", "missing"), 'no pool "missing"'),
        (("pause", "--for", "soon"), '--for: "soon" must be a duration such as'),
        (("pause", "--for", "0s"), "--for: must be longer than 0s"),
        (("pause", "-n", "nowhere"), 'no namespace "nowhere"'),
    ],
)
def test_a_mistake_is_one_line_that_tells_how_to_mend_it(
    cluster: LiveCluster,
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*words, "--kubeconfig", str(cluster.kubeconfig)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(said)
