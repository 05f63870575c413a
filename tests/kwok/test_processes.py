from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from growth.errors import GiveUp
from kwok.processes import StartedProcess, end_processes, processes_in, works_in
from tests.children import child

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program of ours that runs until it is ended."""
    copied = tmp_path / "programs" / "etcd"
    copied.parent.mkdir()
    shutil.copy2(shutil.which("sleep") or "/bin/sleep", copied)
    return str(copied)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cluster" / "work").mkdir(parents=True)
    return tmp_path / "cluster"


@pytest.fixture
def running(program: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with child(subprocess.Popen([program, "60"], cwd=folder / "work")) as process:
        yield process


def test_what_works_in_the_folder_belongs_to_it(
    running: subprocess.Popen[bytes], folder: Path
) -> None:
    (found,) = processes_in(folder, {"etcd"})
    assert (found.pid, found.name) == (running.pid, "etcd")


def test_a_program_is_alive_before_the_kernel_knows_its_command_line(
    running: subprocess.Popen[bytes],
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = tmp_path / "proc" / str(running.pid)
    entry.mkdir(parents=True)
    (entry / "cwd").symlink_to(folder / "work")
    (entry / "cmdline").touch()
    monkeypatch.setattr("kwok.processes.PROC", entry.parent)
    assert works_in(running.pid, folder)
    assert processes_in(folder, {"etcd"}) == []


def test_what_has_ended_works_nowhere(folder: Path, program: str) -> None:
    with subprocess.Popen([program, "0"], cwd=folder / "work") as process:
        process.wait(10)
        assert not works_in(process.pid, folder)


def test_a_folder_may_be_named_through_a_link(
    running: subprocess.Popen[bytes], folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert len(processes_in(tmp_path / "link" / folder.name, {"etcd"})) == 1


def test_what_works_elsewhere_does_not(program: str, folder: Path, tmp_path: Path) -> None:
    beside = folder.with_name("cluster-2")
    beside.mkdir()
    with child(subprocess.Popen([program, "60"], cwd=beside)) as process:
        assert processes_in(folder, {"etcd"}) == []
        assert end_processes(folder, {"etcd"}) == 0
        assert process.poll() is None


def test_a_shell_that_someone_opened_there_is_left_alone(
    running: subprocess.Popen[bytes], folder: Path
) -> None:
    assert end_processes(folder, {"kube-apiserver"}) == 0
    assert running.poll() is None


STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_one_that_can_not_be_ended_is_named_after_a_minute(
    running: subprocess.Popen[bytes], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = StartedProcess(running.pid, "etcd")
    monkeypatch.setattr("kwok.processes.processes_in", lambda *_: [stuck])

    with pytest.raises(GiveUp, match=rf"process {running.pid} \(etcd\) in {folder} .* 60 s ago"):
        end_processes(folder, {"etcd"})


def test_they_end_though_they_ignore_being_asked(folder: Path) -> None:
    command = ["etcd", "-c", STUBBORN]
    pipe = subprocess.PIPE
    with child(
        subprocess.Popen(command, executable=sys.executable, cwd=folder, stdout=pipe)
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert end_processes(folder, {"etcd"}) == 1
        assert process.wait(10) == -signal.SIGKILL


def test_they_are_found_after_their_folder_was_removed(program: str, folder: Path) -> None:
    with child(subprocess.Popen([program, "60"], cwd=folder)) as process:
        shutil.rmtree(folder)
        assert end_processes(folder, {"etcd"}) == 1
        assert process.wait(10) == -signal.SIGKILL
