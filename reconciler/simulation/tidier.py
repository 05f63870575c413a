"""A person who gives empty machines back.

There is no removal room yet, and without anybody a cluster that lives for days would only grow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.simulation.pod_collector import pods_on

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.simulation.cloud import Cloud
    from reconciler.simulation.surroundings import Surroundings

TIDIED_EVERY: Final = 900.0
"""Seconds between two rounds."""
TIDIED_AT_MOST: Final = 8


class Tidier:
    """Comes by now and then until the quiet begins."""

    def __init__(self, around: Surroundings, cloud: Cloud) -> None:
        self._server = around.server
        self._cloud = cloud
        for number in range(1, int(around.story.noisy / TIDIED_EVERY) + 1):
            around.timeline.at(number * TIDIED_EVERY, self._tidy)

    def _tidy(self) -> None:
        """The oldest empty machines, as long as nothing waits for them."""
        empty = (name for name in self._cloud.machines if self._is_idle(name))
        for name in tuple(empty)[:TIDIED_AT_MOST]:
            self._cloud.retire(name)

    def _is_idle(self, name: str) -> bool:
        node: Node | None = self._server.kind("nodes").named(name)
        if node is None or not node.is_ready or self._server.kind("NodeRequest").named(name):
            return False
        pods = self._server.kind("pods").objects
        return all(pods[key].is_of_daemon_set for key in pods_on(name, self._server))
