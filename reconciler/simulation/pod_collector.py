"""The pod garbage collector: it deletes the pods of nodes that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from growth.kube.cache.resource import Key
    from reconciler.simulation.server import SimulatedApiServer, StoredChange
    from reconciler.simulation.surroundings import Surroundings

PODS_COLLECTED_AFTER: Final = 40.0
"""Seconds until the pods of a deleted node are deleted."""


class PodCollector:
    """Deletes the pods of deleted nodes."""

    def __init__(self, around: Surroundings) -> None:
        self._server = server = around.server
        self._timeline = around.timeline
        server.kind("nodes").heard_by.append(self._node_changed)

    def _node_changed(self, event: StoredChange) -> None:
        if event.new is None:
            self._timeline.after(PODS_COLLECTED_AFTER, self._collect, event.key.name)

    def _collect(self, name: str) -> None:
        if self._server.kind("nodes").named(name) is None:
            for key in pods_bound_to(name, self._server):
                self._server.delete("pods", key)


def pods_bound_to(node: str, server: SimulatedApiServer) -> list[Key]:
    """The pods that are bound to a node, including finished ones."""
    pods = server.kind("pods").objects
    return [key for key, pod in pods.items() if pod.spec.node_name == node]
