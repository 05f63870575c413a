"""What a test starts ends with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.children import child, child_on_a_terminal

SLEEPING = [sys.executable, "-c", "import time; time.sleep(600)"]


class Failed(Exception):
    """An assertion of a test."""


def open_files() -> set[str]:
    return {each.name for each in Path("/proc/self/fd").iterdir()}


def test_a_process_ends_with_a_test_that_fails() -> None:
    process = subprocess.Popen(SLEEPING)
    with pytest.raises(Failed), child(process):
        raise Failed
    assert process.returncode is not None


def test_so_does_one_on_a_terminal_and_nothing_is_left_open() -> None:
    before = open_files()
    with pytest.raises(Failed), child_on_a_terminal(SLEEPING) as (process, _):
        raise Failed
    assert process.returncode is not None
    assert open_files() == before


def test_no_terminal_is_left_by_a_program_that_is_not_there() -> None:
    before = open_files()
    with pytest.raises(FileNotFoundError), child_on_a_terminal(["/no/such/program"]):
        pass
    assert open_files() == before
