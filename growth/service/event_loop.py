"""The heartbeat and the lag of the event loop.

All tasks of a process share one loop, so anything that blocks it delays everything: a call of the
scheduler, a probe, a Lease renewal. A timer that should fire every quarter of a second measures how
late it is. That costs four wake-ups per second and shows each stall, whatever its cause.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prometheus_client import Histogram

if TYPE_CHECKING:
    from growth.service.context import Service
    from growth.service.settings import ServiceSettings

INTERVAL = 0.25
STALL = 1.0
"""Seconds of lag that are logged: a call of the scheduler has timed out by then."""
SILENCE = 10.0
"""Seconds without a heartbeat after which the loop counts as dead."""
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


async def watch_event_loop(service: Service[ServiceSettings]) -> None:
    """Send heartbeats and measure the lag until cancelled."""
    loop = asyncio.get_running_loop()
    pulse = service.health.pulse("event loop", limit=SILENCE)
    lag = Histogram(
        "growth_event_loop_lag_seconds",
        "Delay of the event loop",
        buckets=BUCKETS,
        registry=service.registry,
    )
    while True:
        due = loop.time() + INTERVAL
        await asyncio.sleep(INTERVAL)
        late = max(0.0, loop.time() - due)
        pulse.beat()
        lag.observe(late)
        if late >= STALL:
            service.logger.warning("the event loop was blocked", seconds=round(late, 3))
