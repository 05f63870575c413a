"""Waits of a command: each ends, and says for what it was, for how long, and where to look."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from growth.errors import GiveUp
from kwok import growing
from kwok.clusters import LocalCluster
from kwok.schedulers import configured
from kwok.waiting import Patience, wait_for
from tests.kwok.fakes import script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cluster(tmp_path: Path) -> LocalCluster:
    """A cluster in which nothing answers."""
    folder = tmp_path / "clusters" / "fake"
    folder.mkdir(parents=True)
    ports = {"growth-verbs": 1, "growth-demand": 1, "growth-webhook": 1, "kube-apiserver": 1}
    return LocalCluster("fake", folder, kubectl=tmp_path / "kubectl", ports=ports)


@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_what_is_seen_in_time_is_given() -> None:
    seen = iter(["", "", "here"])

    assert wait_for(lambda: next(seen), "it", patience=Patience(600)) == "here"


@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_what_is_never_seen_is_named_with_the_time_and_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"

    with pytest.raises(GiveUp) as failure:
        wait_for(lambda: None, "etcd", patience=Patience(300), log=log)

    assert str(failure.value) == f"timed out after 300 s waiting for etcd; see {log}"


@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_waits_that_share_a_patience_share_its_end() -> None:
    patience = Patience(300)
    looks = iter([False, False, True])
    wait_for(lambda: next(looks), "the first", patience=patience)

    with pytest.raises(GiveUp, match="after 300 s waiting for the second"):
        wait_for(lambda: False, "the second", patience=patience)


@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_a_scheduler_that_never_gets_ready_is_named_with_its_log(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "kube-scheduler", "exec sleep 600")
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "scheduler-second.log"

    told = f'after 120 s waiting for scheduler "second"; see {log}'
    with pytest.raises(GiveUp, match=told), configured(tmp_path, "{}", name="second"):
        pytest.fail("it has never become ready")


def test_a_scheduler_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "kube-scheduler", "exit 1")
    (tmp_path / "logs").mkdir()

    told = 'scheduler "second" has ended; see '
    with pytest.raises(GiveUp, match=told), configured(tmp_path, "{}", name="second"):
        pytest.fail("it has never become ready")


def test_a_kubectl_that_hangs_is_ended(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "_KUBECTL_WITHIN", 0.2)
    script(cluster.kubectl, "exec sleep 600")

    with pytest.raises(GiveUp, match=r"waiting for kubectl apply; see .*/kube-apiserver\.log$"):
        growing.run_kubectl(cluster, "apply", given=json.dumps({}))


# What is started here outlives the command that has started it.
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_growth_that_has_ended_is_not_waited_for(cluster: LocalCluster) -> None:
    nowhere = replace(cluster, name="elsewhere")

    with pytest.raises(
        GiveUp, match=r'growth has ended in cluster "elsewhere"; see .*growth\.log$'
    ):
        growing.start_growth(nowhere, ("extender",))
