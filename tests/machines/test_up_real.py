"""`python -m kwok up --real`: a person gets a cluster whose servers boot on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.live import bring_down, bring_up, run_kwok, wait_until
from tests.machines.archive import TINY
from tests.machines.needs import skip_where_missing

if TYPE_CHECKING:
    from pathlib import Path


def test_a_machine_that_cannot_do_it_says_in_one_line_what_is_missing(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}

    answer = run_kwok("up", "--name", "growth-test-real", "--real", environment=environment)

    assert answer.returncode == 2
    [line] = answer.stderr.splitlines()
    assert line.startswith("kwok: --real: servers can't boot here: ")
    status = run_kwok("status", environment=environment)
    assert "growth-test-real" not in status.stdout


@pytest.mark.long
@pytest.mark.cluster
def test_a_person_buys_a_server_and_gives_it_back() -> None:
    skip_where_missing()
    name = f"growth-test-{os.getpid()}-real"
    try:
        cluster = bring_up(name, "--real")
        cluster.kubectl("create", "deployment", "web", f"--image={TINY}", "--replicas=2")
        running = ("--for=jsonpath={.status.readyReplicas}=2", "--timeout=90s")
        cluster.kubectl("wait", "deployment/web", *running)

        cluster.kubectl("delete", "deployment", "web")

        bought = ("nodes", "--selector", "growth.dev/pool")
        given_back = "the server is given back"
        wait_until(lambda: not cluster.get(*bought)["items"], given_back)
        bring_up(name, "--real")
    finally:
        bring_down(name)
