"""The pulse of the event loop, and how late it answers.

Everything in a process shares one loop, so whatever blocks it is felt by all: a scheduler that
waits for a verb, a probe, a lease. A timer that should fire every quarter of a second measures by
how much it is late; that costs four wake-ups a second and shows each stall, whoever made it.
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
"""Seconds of lateness that are worth a line: every verb of the scheduler has timed out by then."""
SILENCE = 10.0
"""Seconds after which a loop that has not turned is taken for dead."""
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


async def watch_event_loop(service: Service[ServiceSettings]) -> None:
    """Beat and measure until cancelled."""
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
