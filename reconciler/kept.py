"""`growth_nodes_kept`: why nodes are there, in the words of `growth explain node`.

Worked out when somebody looks: a decision needs only a part of it, and nobody else any.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

from growth.keeping.answer import Scene, keepings
from growth.keeping.marks import pool_of_node
from reconciler.removal.paid_hours import paid_hour_of
from reconciler.removal.wanted import promised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry, Metric

    from growth.instant import Instant
    from reconciler.world import World


def scene_of(world: World) -> Scene:
    """What the answers depend on, as the reconciler knows it."""
    return Scene(
        cluster=world.cluster,
        pools=world.pools,
        requests=world.requests,
        removals=world.removals,
        promises=promised(world),
        pauses=world.ledger.brakes.pauses,
        paid_hours={name: paid_hour_of(pool, world) for name, pool in world.pools.items()},
        bind_wait=world.timing.bind_wait,
    )


class KeptNodes(Collector):
    """One line for each pool and reason. Make it once for each registry."""

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        world: Callable[[], World | None],
        now: Callable[[], Instant],
    ) -> None:
        self._world = world
        self._now = now
        registry.register(self)

    @override
    def collect(self) -> Iterable[Metric]:
        """As it is now; nothing in a process that doesn't lead."""
        found = GaugeMetricFamily(
            "growth_nodes_kept",
            "Nodes by the one reason for which each is there",
            labels=("pool", "reason"),
        )
        world = self._world()
        if world is not None:
            kept = keepings(scene_of(world), self._now())
            nodes = world.cluster.nodes
            counts = Counter(
                (pool_of_node(nodes[name]), each.reason) for name, each in kept.items()
            )
            for labels, count in sorted(counts.items()):
                found.add_metric(labels, count)
        yield found
