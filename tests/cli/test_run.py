"""`growth run`: all processes start and end together."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "growth.cli", "run", *words], stderr=subprocess.PIPE, text=True
    )


def test_a_signal_ends_all_of_them_in_order() -> None:
    with started("--only", "extender", "--only", "webhooks") as running:
        assert running.stderr is not None
        lines = [running.stderr.readline() for _ in range(2)]
        assert all('"message": "started"' in line for line in lines), lines
        running.send_signal(signal.SIGTERM)
        _, rest = running.communicate(timeout=15)
    assert running.returncode == 0
    assert rest.count('"message": "ended"') == 2


def test_a_process_that_ends_by_itself_ends_the_others_and_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "kubeconfig"
    broken.write_text("kind: Config\n")
    with started("--kubeconfig", str(broken)) as running:
        _, said = running.communicate(timeout=30)
    assert running.returncode == 1
    assert said.splitlines()[-1] == (
        "reconciler has ended with exit code 2; its log above says why"
    )
