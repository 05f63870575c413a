"""`growth_nodes_kept`: why nodes are there, in the words of `growth explain node`.

Worked out when somebody looks: a decision needs only a part of it, and nobody else any.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from growth.keeping.answer import Scene, keepings
from growth.keeping.marks import pool_of_node
from reconciler.removal.paid_hours import paid_hour_of
from reconciler.removal.wanted import promised
from reconciler.replaces import place_taken

if TYPE_CHECKING:
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
        in_place_of={name: place_taken(node, world) for name, node in world.cluster.nodes.items()},
        pauses=world.ledger.brakes.pauses,
        paid_hours={name: paid_hour_of(pool, world) for name, pool in world.pools.items()},
        bind_wait=world.timing.bind_wait,
    )


def kept_family(world: World, now: Instant) -> GaugeMetricFamily:
    """One line for each pool and reason."""
    found = GaugeMetricFamily(
        "growth_nodes_kept",
        "Nodes by the one reason for which each is there",
        labels=("pool", "reason"),
    )
    nodes = world.cluster.nodes
    counts = Counter(
        (pool_of_node(nodes[name]), kept.reason.value)
        for name, kept in keepings(scene_of(world), now).items()
    )
    for labels, count in sorted(counts.items()):
        found.add_metric(labels, count)
    return found
