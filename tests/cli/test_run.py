"""`growth run`: all processes start and end together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


FREE_PORTS = {f"GROWTH_{use}_ADDRESS": "127.0.0.1:0" for use in ("VERBS", "DEMAND", "WEBHOOK")}
AWAY = (
    "{apiVersion: v1, kind: Config, current-context: away,"
    " clusters: [{name: away, cluster: {server: 'http://127.0.0.1:1'}}],"
    " contexts: [{name: away, context: {cluster: away, user: nobody}}],"
    " users: [{name: nobody, user: {}}]}"
)


def started(kubeconfig: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "growth.cli", "run", "--kubeconfig", str(kubeconfig), *words]
    environment = {**os.environ, **FREE_PORTS}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_a_signal_ends_all_of_them_in_order(tmp_path: Path) -> None:
    away = tmp_path / "kubeconfig"
    away.write_text(AWAY)
    with started(away, "--only", "extender", "--only", "webhooks") as running:
        assert running.stderr is not None
        begun = 0
        while begun < 2:
            line = running.stderr.readline()
            assert line, "it has ended"
            begun += '"message": "started"' in line
        running.send_signal(signal.SIGTERM)
        _, rest = running.communicate(timeout=15)
    assert running.returncode == 0
    assert rest.count('"message": "ended"') == 2


def test_a_process_that_ends_by_itself_ends_the_others_and_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "kubeconfig"
    broken.write_text("kind: Config\n")
    with started(broken, "--only", "reconciler") as running:
        _, said = running.communicate(timeout=30)
    assert running.returncode == 1
    assert said.splitlines()[-1] == (
        "reconciler has ended with exit code 2; its log above says why"
    )
