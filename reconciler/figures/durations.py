"""Metrics of how long nodes take: from their request to being ready, and to be drained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client import CollectorRegistry

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from reconciler.core.world import World

SECONDS: Final = (5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800)


class NodeDurations:
    """Notes each duration when its end is seen."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests: Mapping[str, NodeRequest] = {}
        self._removals: Mapping[str, NodeRemovalRequest] = {}
        self._provisioning = Histogram(
            "growth_node_provisioning_duration_seconds",
            "Time from the creation of a NodeRequest until its node is ready",
            buckets=SECONDS,
            registry=registry,
        )
        self._drain = Histogram(
            "growth_node_drain_duration_seconds",
            "Time from the decision to drain a node until the deletion of its machine is requested",
            buckets=SECONDS,
            registry=registry,
        )

    def look(self, world: World) -> None:
        """Note what has ended since the last World."""
        for name, request in world.requests.items():
            before = self._requests.get(name)
            if before is not None and before.status.ready_at is None:
                self._provisioned(request)
        for name, removal in world.removals.items():
            known = self._removals.get(name)
            if known is not None and known.status.remove_attempted_at is None:
                self._drained(removal)
        self._requests, self._removals = world.requests, world.removals

    def forget(self) -> None:
        """Forget all: another process notes them from now on."""
        self._requests, self._removals = {}, {}

    def _provisioned(self, request: NodeRequest) -> None:
        made, ready = request.metadata.creation_timestamp, request.status.ready_at
        if made is not None and ready is not None:
            self._provisioning.observe(max((ready - made).total_seconds(), 0.0))

    def _drained(self, removal: NodeRemovalRequest) -> None:
        made, asked = removal.metadata.creation_timestamp, removal.status.remove_attempted_at
        is_drained = removal.spec.reason.meaning.drains
        if made is not None and asked is not None and is_drained:
            self._drain.observe(max((asked - made).total_seconds(), 0.0))
