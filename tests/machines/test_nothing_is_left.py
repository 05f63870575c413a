"""Nothing of servers is left on this machine, however the process ended that wanted them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from tests.children import child
from tests.live import ROOT, wait_until
from tests.machines.footprint import Footprint, footprint_of, network_namespaces, this_host
from tests.machines.image import image_folder
from tests.machines.keeping import hall_of
from tests.machines.needs import skip_where_missing
from tests.machines.places import halls_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER: Final = """
from tests.machines.image import image_folder
from tests.machines.keeping import hall_of

with hall_of(image_folder()) as hall:
    order = {"number": 3, "serial": "1", "memory": 2**31, "address": "172.31.0.3"}
    hall.ask("boot", name="server", **order)
    while "systemd" not in hall.try_to_run("server", "cat /proc/1/comm")["output"]:
        pass
    print(hall.name, hall.keeper.pid, flush=True)
    input()
"""
"""A process with one server; it ends in order when a line arrives."""
NOTHING: Final = Footprint(groups=0, disks=0, processes=0)


@pytest.fixture(autouse=True)
def can_boot() -> None:
    skip_where_missing()
    halls_folder().mkdir(parents=True, exist_ok=True)


@contextmanager
def owner_of_a_server() -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """Its process, the name of its hall, and the keeper of this."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child(process):
        assert process.stdout is not None
        hall, keeper = process.stdout.readline().split()
        yield process, hall, int(keeper)


@pytest.mark.parametrize(
    "end",
    [
        signal.SIGKILL,
        *(pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGTERM, signal.SIGINT)),
        pytest.param(None, marks=pytest.mark.long),
    ],
)
def test_nothing_is_left_when_the_owner_of_servers_ends(end: signal.Signals | None) -> None:
    before, known = this_host(), network_namespaces()
    with owner_of_a_server() as (owner, hall, _):
        during, own = footprint_of(hall), network_namespaces() - known
        assert min(during.groups, during.disks, during.processes) > 0
        assert own
        assert this_host() == before
        if end is None:
            owner.communicate("\n")
        else:
            owner.send_signal(end)
        owner.wait(60)

    wait_until(lambda: footprint_of(hall) == NOTHING, "nothing is left")
    assert not own & network_namespaces()
    assert this_host() == before


@pytest.mark.long
def test_a_later_hall_removes_what_a_keeper_has_left_that_was_killed() -> None:
    with owner_of_a_server() as (owner, hall, keeper):
        os.kill(keeper, signal.SIGKILL)
        owner.kill()
        owner.wait(60)
    wait_until(lambda: footprint_of(hall).processes == 0, "all has ended")
    assert footprint_of(hall).disks == 1

    with hall_of(image_folder()):
        assert footprint_of(hall) == NOTHING
