"""Whether the cluster is at rest, and whether it has changed since the last search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.disruption import DisruptionReason
from growth.api.noderequest import COMING
from reconciler.buying.market import sold
from reconciler.facts.requested import all_requests
from reconciler.facts.serving import serves_now
from reconciler.planning.demand import is_any_to_be_planned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World
    from reconciler.replacement.swaps import Swap


def is_moving(world: World, now: Instant, swaps: Iterable[Swap]) -> bool:
    """Whether demand has no place yet, or machines are coming or going.

    Pods that no plan has a place for, and sick nodes, don't count: they may stay so for long.
    """
    ledger, planning = world.ledger.replacement, world.ledger.planning
    leaving = (*ledger.going.values(), *ledger.opening.values(), *(each.reason for each in swaps))
    if (
        planning.asked is not None
        or any(reason is not DisruptionReason.UNHEALTHY for reason in leaving)
        or any(each.status.phase in COMING for each in all_requests(world).values())
    ):
        return True
    return is_any_to_be_planned(world, now.monotonic)


def sight(nodes: Iterable[Node], most: Mapping[str, int], world: World) -> tuple[object, ...]:
    """Everything that a search's answer depends on, in a form that compares quickly."""
    ledger, cluster = world.ledger.replacement, world.cluster
    return (
        tuple(node.name for node in nodes),
        # Instead of its pods: when they change, so does this.
        {n: each.since for n, each in ledger.still.items() if serves_now(cluster.nodes[n], world)},
        {key: each.allowed for key, each in cluster.budgets.items()},
        dict(most),
        sold(world),
    )
