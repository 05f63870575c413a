from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from growth.errors import GiveUp
from kwok.locks import locked
from tests.children import child

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, time
from pathlib import Path
from kwok.locks import locked
from tests.children import child
with locked(Path(sys.argv[1]), waiting=lambda: None):
    print("held", flush=True)
    time.sleep(60)
"""


def no_wait() -> None:
    pytest.fail("nobody else holds the lock")


def test_a_lock_leaves_no_file(tmp_path: Path) -> None:
    with locked(tmp_path / "lock", waiting=no_wait):
        assert (tmp_path / "lock").exists()
    assert not list(tmp_path.iterdir())


def test_a_failure_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock", waiting=no_wait):
        _ = 1 // 0
    with locked(tmp_path / "lock", waiting=no_wait):
        pass


def test_the_second_waits_and_says_so(tmp_path: Path) -> None:
    told = threading.Event()
    order: list[str] = []

    def second() -> None:
        with locked(tmp_path / "lock", waiting=told.set):
            # What it holds must be the file that the next one will find, not a removed one.
            order.append("second" if (tmp_path / "lock").exists() else "ghost")

    with locked(tmp_path / "lock", waiting=no_wait):
        thread = threading.Thread(target=second)
        thread.start()
        assert told.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("each_look_takes_a_minute")
def test_a_wait_for_a_lock_ends_and_names_its_holder(tmp_path: Path) -> None:
    lock = tmp_path / "lock"

    with (
        locked(lock, waiting=no_wait),
        pytest.raises(GiveUp) as failure,
        locked(lock, waiting=lambda: None, within=300),
    ):
        pytest.fail("two hold the lock")

    told = f"timed out after 300 s waiting for the lock {lock}; process {os.getpid()} holds it"
    assert str(failure.value) == f"{told}: wait for it, or end it"
    assert not lock.exists()


def test_many_never_hold_it_together(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def one() -> None:
        for _ in range(20):
            with locked(tmp_path / "lock", waiting=lambda: None):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert most == [1] * 160


def test_a_killed_holder_blocks_nobody(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    with child(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait(10)
    with locked(tmp_path / "lock", waiting=no_wait):
        pass
