"""Many servers, one after the other and at once: none of them leaves anything on this machine.

SERVERS=3 and AT_ONCE=2 in the environment make it short.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from tests.live import wait_until
from tests.machines.footprint import footprint_of, rooms_of, this_host
from tests.machines.image import image_folder
from tests.machines.keeping import hall_of
from tests.machines.needs import skip_where_missing
from tests.machines.places import halls_folder
from tests.machines.sites import BOOTED_WITHIN

if TYPE_CHECKING:
    from tests.machines.keeping import KeptHall

pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]
IN_A_ROW: Final = int(os.environ.get("SERVERS", "100"))
AT_ONCE: Final = int(os.environ.get("AT_ONCE", "8"))
ALONE: Final = {"etc/cloud/cloud-init.disabled": ""}
"""With this file nobody is asked who the server is."""


def test_many_servers_leave_nothing_on_this_machine() -> None:
    skip_where_missing()
    halls_folder().mkdir(parents=True, exist_ok=True)
    with hall_of(image_folder()) as hall:
        come_and_go(hall, 1)
        before = traces(hall)

        for _ in range(IN_A_ROW):
            come_and_go(hall, 1)
        come_and_go(hall, AT_ONCE)

        wait_until(lambda: traces(hall) == before, "all is as it was before")


def come_and_go(hall: KeptHall, count: int) -> None:
    """So many servers boot until containerd runs, and are ended."""
    for number in range(3, 3 + count):
        order = {"serial": str(number), "memory": 2**31, "address": f"172.31.0.{number}"}
        hall.ask("boot", name=f"server-{number}", number=number, changes=ALONE, **order)
    for number in range(3, 3 + count):
        name = f"server-{number}"
        goal = f"{name} is up"
        wait_until(lambda: is_up(hall, name), goal, within=BOOTED_WITHIN)  # noqa: B023 - called at once
        hall.ask("end", name=name)


def is_up(hall: KeptHall, name: str) -> bool:
    said = hall.try_to_run(name, "systemctl is-active containerd")["output"]
    return str(said).strip() == "active"


def traces(hall: KeptHall) -> tuple[object, ...]:
    """All that a server has while it runs, counted."""
    return (
        footprint_of(hall.name),
        rooms_of(hall.first_process()),
        sorted(each.name for each in hall.folder.iterdir()),
        this_host(),
    )
