"""Metrics of how long Ready nodes stay closed, and what they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import Histogram

from reconciler.provisioning.ledger import OpeningWait

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from reconciler.core.world import World

SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60)


class OpeningFigures:
    """Notes each node once, when it has opened."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._noted: set[str] = set()
        waits = Histogram(
            "growth_opening_wait_seconds",
            "Time from when a bought node was Ready until it opened, by what it waited for last: "
            "nothing, drivers (of storage), machines (of its plan, which still booted), "
            "control_plane (its taints on one of these), seats (that are held)",
            ("waits_for",),
            buckets=SECONDS,
            registry=registry,
        )
        self._waits = {each: waits.labels(each.value) for each in OpeningWait}

    def look(self, world: World) -> None:
        """Note what has opened since the last World."""
        known = world.ledger.provisioning.openings
        opened = {name for name, each in known.items() if each.opened_at is not None}
        for name in opened - self._noted:
            found = known[name]
            if found.opened_at is not None:
                self._waits[found.waited_for].observe(found.opened_at - found.ready_at)
        self._noted = opened

    def forget(self) -> None:
        """Forget all: another process notes them from now on."""
        self._noted = set()
