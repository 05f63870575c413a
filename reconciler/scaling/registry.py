"""The scaling policies, by the name that a pool's spec gives them.

A policy is a folder beside this file and a line in this table. It is a pure rule: what it must
remember over a restart it reads from the pool's `status.scaling`, which tells what it decided last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from growth.api.scaling import ScalingPolicyName
from reconciler.scaling.demand import sized_by_demand
from reconciler.scaling.desired.deciding import sized_by_number
from reconciler.scaling.utilisation.policy import sized_by_utilisation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.api.nodepool import NodePool
    from growth.instant import Instant
    from growth.keeping.size import PoolSize
    from reconciler.core.world import World

ScalingPolicy: TypeAlias = "Callable[[World, NodePool, Instant], PoolSize]"
Policies: TypeAlias = "Mapping[str, ScalingPolicy]"

POLICIES: Final[Policies] = {
    ScalingPolicyName.DEMAND: sized_by_demand,
    ScalingPolicyName.UTILISATION: sized_by_utilisation,
    ScalingPolicyName.DESIRED: sized_by_number,
}
