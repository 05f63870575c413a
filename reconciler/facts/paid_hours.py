"""When an idle node is marked where paid hours are used: the rule of `growth.keeping`, applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import PaidHour
from growth.keeping import paid_hours
from growth.keeping.marks import bought_at
from reconciler.facts.node_classes import node_class_of

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from reconciler.core.world import World


def seconds_until_node_marked(node: Node, pool: NodePool, world: World, now: Instant) -> float:
    """How long an idle node stays usable; 0 where hours don't matter or the moment has come."""
    if paid_hour_in_world(pool, world) is PaidHour.IGNORE:
        return 0.0
    moment = bought_at(node)
    return 0.0 if moment is None else paid_hours.seconds_until_marked(moment, pool, now.wall)


def paid_hour_in_world(pool: NodePool, world: World) -> PaidHour:
    """How a pool uses hours that are already paid for."""
    return paid_hours.paid_hour_of(pool, world.node_classes.get(node_class_of(pool, world)))
