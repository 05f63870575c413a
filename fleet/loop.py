"""The loop of a fleet: each pass decides about all clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleet.core.actions import FleetAction
from fleet.core.world import FleetWorld
from fleet.passes import fleet_pass
from growth.service.passing import PassLoop, PassPort

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


class FleetLoop(PassLoop[FleetWorld, FleetAction]):
    """Decides about a fleet, pass by pass; no cluster has two sequences."""

    def __init__(
        self, port: PassPort[FleetWorld, FleetAction], *, now: Callable[[], datetime]
    ) -> None:
        super().__init__(port, decide=fleet_pass, now=now)
