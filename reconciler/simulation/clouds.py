"""The listings of a simulated process, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from reconciler.providers.port import ClassKey, Sight

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from growth.instant import Instant
    from reconciler.core.timing import Timing
    from reconciler.providers.port import Listing
    from reconciler.seeing.indexes import Views
    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.surroundings import Surroundings

THERE_AND_BACK = 0.2
"""Seconds that a listing takes."""


class Watcher(Protocol):
    """The process that lists machines."""

    views: Views
    timing: Timing

    def now(self) -> Instant:
        """The current time on both clocks."""

    def arrive(self, action: Callable[..., None], *arguments: Any) -> None:
        """Deliver something to the process."""

    def wake(self) -> None:
        """Run a pass soon, because something has changed."""


class SimulatedClouds:
    """The sights of one process."""

    def __init__(self, watcher: Watcher, cloud: SimulatedCloud, around: Surroundings) -> None:
        self.sights: dict[ClassKey, Sight] = {}
        self._watcher = watcher
        self._cloud = cloud
        self._timeline = around.timeline

    def look(self) -> None:
        """List the machines of each node class, and again after a pause."""
        at = self._watcher.now()
        listing = self._cloud.listing(at)
        self._timeline.after(THERE_AND_BACK, self._watcher.arrive, self._seen, listing)

    def _seen(self, listing: Listing) -> None:
        for key in self._watcher.views.node_classes:
            before = self.sights.get(key, Sight())
            if listing.is_complete:
                own = self._of_class(key, listing)
                self.sights[key] = Sight(listing=own, before=before.listing)
            else:
                since = before.blind_since or self._timeline.now
                self.sights[key] = msgspec.structs.replace(
                    before, blind_since=since, problem=listing.reason
                )
        self._watcher.wake()
        self._look_again()

    def _of_class(self, key: ClassKey, listing: Listing) -> Listing:
        """Each node class has a cloud, or an account, of its own."""
        machines = {
            name: each
            for name, each in listing.machines.items()
            if self._cloud.class_of(name) == key
        }
        return msgspec.structs.replace(listing, machines=machines)

    def _look_again(self) -> None:
        timing = self._watcher.timing
        moving = self._watcher.views.is_anything_moving
        pause = timing.attentive_listing if moving else timing.listing
        self._timeline.after(pause, self._watcher.arrive, self.look)
