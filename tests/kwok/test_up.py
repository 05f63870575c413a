"""What becomes of a cluster that is there already, and what a person is told beside it."""

from __future__ import annotations

import argparse
import io
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from growth.errors import Misconfigured
from kwok.clusters import COMPONENTS, LocalCluster
from kwok.finding import FoundProgram
from kwok.processes import StartedProcess
from kwok.progress import Progress
from kwok.up import bring_up, where_kubectl_is
from kwok.versions import PROGRAMS, ReleasedVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def cluster(folder: Path) -> LocalCluster:
    kubectl = folder / "programs" / "kubectl"
    return LocalCluster("growth", folder, "1.36.3", kubectl=kubectl)


def test_who_has_no_kubectl_is_told_where_one_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    [line] = where_kubectl_is(cluster(tmp_path))

    assert line.endswith(str(tmp_path / "programs"))


def test_who_has_one_is_told_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kubectl").touch(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert list(where_kubectl_is(cluster(tmp_path))) == []


ASKED = argparse.Namespace(
    scheduler_config=None,
    programs=None,
    kube_version=None,
    growth=False,
    joinable=False,
    name="growth",
)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LocalCluster:
    """A cluster all programs of which run."""
    found = replace(cluster(tmp_path), ready=True)
    path = tmp_path / "program"
    programs = {
        each.name: FoundProgram(each, ReleasedVersion(1, 36, 3), path, "named") for each in PROGRAMS
    }
    alive = [StartedProcess(1, name) for name in COMPONENTS]
    monkeypatch.setattr("kwok.up.programs_for", lambda *_: programs)
    monkeypatch.setattr("kwok.up.find_cluster", lambda _: found)
    monkeypatch.setattr("kwok.places.SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(LocalCluster, "running", lambda _: alive)
    return found


@pytest.mark.usefixtures("each_look_takes_a_second")
def test_a_cluster_that_is_slow_to_answer_is_not_thrown_away(
    running: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy: Iterator[bool] = iter([False] * 20 + [True])
    monkeypatch.setattr("kwok.up.component_is_healthy", lambda *_: next(healthy))
    said = io.StringIO()

    assert bring_up("growth", arguments=ASKED, progress=Progress(said)) == running

    assert "is already running" in said.getvalue()


@pytest.mark.usefixtures("each_look_takes_a_second")
def test_a_cluster_that_never_answers_is_started_anew(
    running: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwok.up.component_is_healthy", lambda *_: False)
    monkeypatch.setattr("kwok.up.start_cluster", lambda new, *_: new)
    monkeypatch.setattr(LocalCluster, "remove", lambda _: None)
    said = io.StringIO()

    bring_up("growth", arguments=ASKED, progress=Progress(said))

    assert 'cluster "growth" is broken: removing it' in said.getvalue()


def test_a_running_cluster_that_machines_cannot_join_is_not_taken_for_one(
    running: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwok.up.component_is_healthy", lambda *_: True)
    asked = argparse.Namespace(**{**vars(ASKED), "joinable": True})

    with pytest.raises(Misconfigured, match="no way for machines to join; remove it first"):
        bring_up("growth", arguments=asked, progress=Progress(io.StringIO()))
