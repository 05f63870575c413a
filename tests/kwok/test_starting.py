"""How a start fails, told with a kwokctl that only pretends."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from growth.errors import GiveUp, RetryLater
from kwok import clusters, places
from kwok.clusters import LocalCluster, all_clusters, new_cluster
from kwok.configuration import DEFAULT_SCHEDULER
from kwok.finding import FoundProgram
from kwok.progress import Progress
from kwok.starting import start_cluster
from kwok.versions import PROGRAMS, ReleasedVersion
from tests.kwok.fakes import script

# It notes the ports that it was given, and an etcd that has ended with these words.
PRETENDS = """
echo >> {counted}
work="$KWOK_WORKDIR/clusters/fake"
mkdir -p "$work/pids" "$work/logs"
echo "{words}" > "$work/logs/etcd.log"
{numbers}
exit 0
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalCluster:
    """A cluster that is to be started where no other one is."""
    monkeypatch.setattr(places, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(places, "ROOM_FOR_CLUSTERS", 1)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return new_cluster(
        "fake", version="1.36.3", kubectl=tmp_path / "kubectl", scheduler=DEFAULT_SCHEDULER
    )


def pretending(tmp_path: Path, words: str) -> dict[str, FoundProgram]:
    numbers = 'echo 1 > "$work/pids/etcd.pid"'
    counted = tmp_path / "tries"
    kwokctl = script(
        tmp_path / "kwokctl", PRETENDS.format(counted=counted, words=words, numbers=numbers)
    )
    return {
        each.name: FoundProgram(each, ReleasedVersion(1, 36, 3), kwokctl, "named")
        for each in PROGRAMS
    }


def tries(tmp_path: Path) -> int:
    return len((tmp_path / "tries").read_text().splitlines())


@pytest.mark.parametrize(
    "passing",
    [
        "listen tcp 127.0.0.1:20000: bind: address already in use",
        "failed to wait for apiserver being healthy: timed out waiting for the condition",
    ],
)
def test_what_passes_on_a_busy_machine_is_tried_anew_three_times(
    cluster: LocalCluster, tmp_path: Path, passing: str
) -> None:
    programs = pretending(tmp_path, passing)
    with pytest.raises(RetryLater, match=rf"etcd .* {passing}"):
        start_cluster(cluster, programs, Progress(io.StringIO()))
    assert tries(tmp_path) == 3
    assert list(all_clusters()) == []


def test_what_a_component_says_last_is_the_reason_and_nothing_is_left(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    programs = pretending(tmp_path, "first words\nno space left on device")
    with pytest.raises(
        GiveUp, match=r'etcd of cluster "fake" has ended: no space left on device; '
    ):
        start_cluster(cluster, programs, Progress(io.StringIO()))
    assert tries(tmp_path) == 1
    assert not cluster.folder.exists()


def test_what_a_start_that_failed_has_written_outlives_its_cluster(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    with pytest.raises(GiveUp) as failure:
        start_cluster(cluster, pretending(tmp_path, "no space left"), Progress(io.StringIO()))

    kept = Path(str(failure.value).rpartition("; its logs: ")[2])
    assert (kept / "etcd.log").read_text() == "no space left\n"
    assert (kept / "kwokctl.log").exists()


def test_logs_that_could_not_be_kept_are_not_named(cluster: LocalCluster, tmp_path: Path) -> None:
    kept = places.failed_folder("fake")
    kept.parent.parent.mkdir(parents=True, exist_ok=True)
    kept.parent.touch()

    with pytest.raises(GiveUp) as failure:
        start_cluster(cluster, pretending(tmp_path, "no space left"), Progress(io.StringIO()))

    assert "its logs" not in str(failure.value)


@pytest.mark.parametrize(
    ("does", "goal"),
    [
        pytest.param("exec sleep 600", "kwokctl", id="kwokctl hangs"),
        pytest.param("exit 0", "the first answer of kube-apiserver", id="nothing answers"),
    ],
)
@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_a_start_that_hangs_ends_and_says_what_it_waited_for(
    cluster: LocalCluster, tmp_path: Path, does: str, goal: str
) -> None:
    programs = pretending(tmp_path, "")
    script(programs["kwokctl"].path, does)

    told = f'^timed out after 240 s waiting for {goal} of cluster "fake"; its logs: /'
    with pytest.raises(GiveUp, match=told):
        start_cluster(cluster, programs, Progress(io.StringIO()))

    assert not cluster.folder.exists()


def test_a_cluster_that_is_just_being_removed_is_passed_by(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.save()
    is_dir = Path.is_dir

    def gone_right_after(path: Path) -> bool:
        there = is_dir(path)
        if path == cluster.folder:
            shutil.rmtree(path)
        return there

    monkeypatch.setattr(Path, "is_dir", gone_right_after)

    assert list(all_clusters()) == []


def test_a_kwokctl_that_fails_is_told(cluster: LocalCluster, tmp_path: Path) -> None:
    programs = pretending(tmp_path, "")
    script(programs["kwokctl"].path, "echo unknown option >&2; exit 1")
    with pytest.raises(GiveUp, match='could not create cluster "fake": unknown option'):
        start_cluster(cluster, programs, Progress(io.StringIO()))
    assert not cluster.folder.exists()


def test_a_record_that_cannot_be_read_is_that_of_a_half_made_cluster(cluster: LocalCluster) -> None:
    cluster.save()
    (cluster.folder / "cluster.json").write_text("{half")
    (found,) = all_clusters()
    assert (found.name, found.ready) == ("fake", False)
    assert clusters.find_cluster("fake") == found
