"""A metric of how removals end: the machine is gone, or its node stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import prometheus_client as prometheus

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from growth.api.noderemovalrequest import NodeRemovalRequest
    from reconciler.core.world import World


class RemovalFigures:
    """Counts the removals that have ended since the last World."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._known: dict[str, NodeRemovalRequest] = {}
        self._ended = prometheus.Counter(
            "growth_node_removals_ended",
            "Removals that have ended, by reason and outcome: gone if the machine was given back,"
            " kept if its node stays",
            ("reason", "outcome"),
            registry=registry,
        )

    def look(self, world: World) -> None:
        """Count the removals that have ended."""
        for name in self._known.keys() - world.removals.keys():
            reason = self._known[name].spec.reason.value
            outcome = "kept" if name in world.cluster.nodes else "gone"
            self._ended.labels(reason, outcome).inc()
        self._known = dict(world.removals)

    def forget(self) -> None:
        """Forget all removals: another process counts them from now on."""
        self._known = {}
