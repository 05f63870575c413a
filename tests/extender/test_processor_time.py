"""What the benchmark tells of processors is what the kernel has counted."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from benchmarks.processor_time import used_by

if TYPE_CHECKING:
    from pathlib import Path

WORK = 0.1


def test_what_a_process_does_is_counted_under_its_name(tmp_path: Path) -> None:
    began, before = time.process_time(), used_by(tmp_path, us=os.getpid())["us"]
    while time.process_time() - began < WORK:
        pass
    spent = used_by(tmp_path, us=os.getpid())["us"] - before

    # The kernel tells whole hundredths of a second.
    assert WORK - 0.03 <= spent <= time.process_time() - began + 0.03


def test_a_process_that_is_gone_has_used_nothing_more(tmp_path: Path) -> None:
    beyond_any_pid = 2**22 + 1
    assert used_by(tmp_path, gone=beyond_any_pid) == {"gone": 0.0}
